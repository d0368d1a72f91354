import { z } from 'zod';
import { isMoney } from './currency';

/** Invalid input. The message has one line per problem and contains no secrets. */
export class BadInput extends Error {}

/** @throws BadInput */
export function parse<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(input);
  if (success) return data;
  throw new BadInput(error.issues.flatMap(linesOf).join('\n'));
}

function linesOf(issue: z.core.$ZodIssue): string[] {
  const line = (path: PropertyKey[]) => [...(path.length > 0 ? [path.join('.')] : []), issue.message].join(': ');
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => line([...issue.path, key])) : [line(issue.path)];
}

/** An object that rejects unknown fields, so that a misspelt field is not ignored. */
export function strictObject<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `unknown; valid names are ${Object.keys(shape).join(', ')}` : undefined,
  });
}

export const text = z.string().min(1);

/** An amount of money of zero or more, as a decimal number. */
export const money = z.number().refine(isMoney, 'needs an amount such as 100 or 99.95');

export function integer(min: number, max = Number.MAX_SAFE_INTEGER) {
  const needed =
    max === Number.MAX_SAFE_INTEGER ? `needs a whole number from ${min}` : `needs a whole number from ${min} to ${max}`;
  return z.int(needed).min(min, needed).max(max, needed);
}

/** A whole number as text, from a query or the environment. */
export const digits = z.string().regex(/^\d+$/, 'needs a whole number').transform(Number);

/** The items of an order: 1 to 100 products with quantities from 1 to 10,000. */
export const orderItems = z
  .array(z.object({ id: text, quantity: integer(1, 10_000) }))
  .min(1)
  .max(100);

/** @throws BadInput */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new BadInput('body: not JSON');
  }
}
