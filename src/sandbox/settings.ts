import { z } from 'zod';
import { integer, money, parse, strictObject, text } from './input';

const pathPrefix = z
  .string()
  .regex(
    /^(?!\/admin(\/|$))(\/[A-Za-z0-9._~-]+)*$/,
    'needs a path such as /v1/partners, without a slash at its end and not under /admin',
  );

const count = integer(0, 1_000_000_000);

/** How the sandbox behaves where the partner's document leaves it open, or where a test wants it to. Can change any time. */
export const settingsSchema = strictObject({
  /** Any of these is accepted, so that a key can be rotated. */
  apiKeys: z.array(text).min(1),
  /** Before `/products` and `/orders`. */
  listPrefix: pathPrefix,
  /** Before `/place-order` and `/orders/{id}/keys`. */
  orderPrefix: pathPrefix,
  /** Names of the order history's query parameters. */
  searchParam: text,
  pageParam: text,
  limitParam: text,
  /** Orders age so many times faster than the calendar. */
  speed: z.number().min(0).max(1_000_000),
  /** Each poll of an order's keys makes that order so much older, before the poll is answered. */
  perLookMs: count,
  /** In the account's currency, as a decimal number. */
  creditLimit: money,
  /** Whether a second order may bear a reference that is taken, or is answered with 409. */
  duplicates: z.enum(['accept', 'refuse']),
  /** `ignored`: the parameter is not read; `fuzzy`: part of an id or reference is enough. */
  search: z.enum(['exact', 'ignored', 'fuzzy']),
  historyOrder: z.enum(['newest', 'oldest']),
  /** What `item` shows of an order of several products: the first with the whole order's quantity and amount, or with its own. */
  historyItem: z.enum(['whole', 'first']),
  /** An order shows up in the history only so long after it was committed. */
  historyLagMs: count,
  /** An order stays out of so many answers of the history after it was committed. */
  historyLagRequests: count,
  /** So many orders of nobody in particular come in after each page of the history. */
  historyShift: integer(0, 1_000),
});

export type Settings = z.output<typeof settingsSchema>;

export const DEFAULT_SETTINGS: Settings = {
  apiKeys: ['sandbox-key'],
  listPrefix: '/v1/partners',
  orderPrefix: '',
  searchParam: 'query',
  pageParam: 'page',
  limitParam: 'limit',
  speed: 1,
  perLookMs: 0,
  creditLimit: 10_000,
  duplicates: 'accept',
  search: 'exact',
  historyOrder: 'newest',
  historyItem: 'whole',
  historyLagMs: 0,
  historyLagRequests: 0,
  historyShift: 0,
};

/**
 * The settings among `change` that are given.
 * @throws BadInput that names every setting that is wrong or unknown
 */
export function parseSettings(change: unknown): Partial<Settings> {
  const given = Object.entries(parse(settingsSchema.partial(), change)).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

/** What is fixed when a sandbox is started. */
export const fixedOptions = z.object({
  seed: text.default('sandbox'),
  products: integer(1_000, 20_000).default(1_200),
  balance: money.default(100_000),
});
