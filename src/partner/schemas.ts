import { z } from 'zod';

/*
 * What the partner writes, and what it becomes here. Fields that we don't know pass and are dropped. What the
 * partner's document shows is required where an answer is of no use without it, and may be missing elsewhere. Amounts
 * are decimal numbers as the partner wrote them, not minor units.
 */

// JSON.parse turns 1e999 into Infinity and rounds whole numbers beyond 2^53: what arrives then is not what was sent.
const amount = z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
const count = z.int().min(0);
const text = z.string().min(1);

const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const listOf = <T extends z.ZodType>(schema: T) =>
  z
    .array(schema)
    .nullish()
    .transform((rows) => rows ?? []);

const pages = z.object({ page: z.int(), total: count, limit: count });

export const product = z.object({
  id: text,
  title: z.string(),
  /** Region codes. The partner shows neither their format nor how the two lists combine. */
  restrictions: z.object({ whitelist: listOf(z.string()), blacklist: listOf(z.string()) }),
  /** Pieces in stock. */
  quantity: z.int(),
  price: amount,
  /** One of CURRENCIES, or whatever else the partner sent. */
  currency: z.string(),
});

export const productPage = z.object({
  /** The matches on all pages together. */
  hits: count,
  products: z.array(product),
  pages,
});

const historyItem = z.object({
  id: optional(z.string()),
  title: optional(z.string()),
  quantity: optional(z.int()),
  amount: optional(amount),
});

export const historyOrder = z
  .object({
    id: text,
    // Absent where the partner names none, as for an order that was made by other means than this interface.
    reference_id: optional(z.string()),
    // As the partner wrote it; it does not say that these are the fulfilment statuses.
    status: text,
    // The item of an order of several is not shown. An object with a wrong field is an error all the same.
    item: z.preprocess((item) => (isPlainObject(item) ? item : undefined), historyItem.optional()),
    created_at: z.string().refine((written) => !Number.isNaN(Date.parse(written)), 'a date and time'),
  })
  .transform(({ reference_id, created_at, item, ...rest }) => ({
    ...rest,
    referenceId: reference_id,
    item,
    createdAt: created_at,
  }));

export const orderPage = z.object({
  hits: count,
  orders: z.array(historyOrder),
  pages,
});

const key = z.object({
  type: z
    .string()
    .nullish()
    .transform((type) => type ?? 'text'),
  value: text,
});

const orderedProduct = z.object({
  id: text,
  title: optional(z.string()),
  /** Pieces ordered. */
  quantity: optional(z.int()),
  keys: listOf(key),
});

const balance = z
  .object({ balance: optional(amount), credit_limit: optional(amount) })
  .transform((account) => ({ balance: account.balance, creditLimit: account.credit_limit }));

/**
 * The order that was asked for. Another order's keys under this id would be handed to the wrong customer, and a
 * finished order whose products are missing must not pass for one without keys.
 */
export function orderWithKeys(orderId: string) {
  return z
    .object({
      id: z.string().refine((id) => id === orderId, 'the id that was asked for'),
      // One of the documented statuses, or whatever else the partner sent.
      status: text,
      products: optional(z.array(orderedProduct)),
      // Currency and unit: not shown by the partner.
      total_debit: optional(amount),
      // The account after the order.
      balance: optional(balance),
    })
    .refine(({ status, products }) => products !== undefined || !['COMPLETED', 'PARTIAL_COMPLETED'].includes(status), {
      path: ['products'],
      message: 'array',
    })
    .transform(({ total_debit, products, ...rest }) => ({
      ...rest,
      products: products ?? [],
      totalDebit: total_debit,
    }));
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
