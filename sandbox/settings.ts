import { z } from 'zod';
import type { Now } from './clock';
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
  apiKeys: z.array(text).min(1).default(['sandbox-key']),
  /** Before `/products` and `/orders`. */
  listPrefix: pathPrefix.default('/v1/partners'),
  /** Before `/place-order` and `/orders/{id}/keys`. */
  orderPrefix: pathPrefix.default(''),
  /** Names of the order history's query parameters. */
  searchParam: text.default('query'),
  pageParam: text.default('page'),
  limitParam: text.default('limit'),
  /** Orders age so many times faster than the calendar. */
  speed: z.number().min(0).max(1_000_000).default(1),
  /** Each poll of an order's keys makes that order so much older, before the poll is answered. */
  perLookMs: count.default(0),
  /** In the account's currency, as a decimal number. */
  creditLimit: money.default(10_000),
  /** Whether a second order may bear a reference that is taken, or is answered with 409. */
  duplicates: z.enum(['accept', 'refuse']).default('accept'),
  /** `ignored`: the parameter is not read; `fuzzy`: part of an id or reference is enough. */
  search: z.enum(['exact', 'ignored', 'fuzzy']).default('exact'),
  historyOrder: z.enum(['newest', 'oldest']).default('newest'),
  /** What `item` shows of an order of several products: the first with the whole order's quantity and amount, or with its own. */
  historyItem: z.enum(['whole', 'first']).default('whole'),
  /** An order shows up in the history only so long after it was committed. */
  historyLagMs: count.default(0),
  /** An order stays out of so many answers of the history after it was committed. */
  historyLagRequests: count.default(0),
  /** So many orders of nobody in particular come in after each page of the history. */
  historyShift: integer(0, 1_000).default(0),
  /** A page of the history holds no more orders than this, whatever limit is asked for. */
  historyPageLimit: integer(1, 500).default(500),
});

export type Settings = z.output<typeof settingsSchema>;

export const DEFAULT_SETTINGS = settingsSchema.parse({});

/** The settings among `change` that are given. @throws BadInput that names every setting that is wrong or unknown */
export function parseSettings(change: unknown): Partial<Settings> {
  const settings = Object.entries(parse(settingsSchema, change));
  return Object.fromEntries(settings.filter(([name]) => (change as Record<string, unknown>)[name] !== undefined));
}

/** What is fixed when a sandbox is started. */
export const fixedOptions = z.object({
  /** Catalogue, order ids and keys depend on it alone. */
  seed: text.default('sandbox'),
  /** Ordinary products beside the scenarios. */
  products: integer(1_000, 20_000).default(1_200),
  /** Opening balance in the account's currency, as a decimal number. */
  balance: money.default(100_000),
  /** Time of day; orders age by it too, times `speed`. Default the machine's. */
  now: z.custom<Now>().default(() => Date.now),
});

export type FixedOptions = z.input<typeof fixedOptions>;
