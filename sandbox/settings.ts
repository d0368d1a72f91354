import { z } from 'zod';
import type { Now } from './clock';
import { integer, money, parse, strictObject, text } from './input';

const pathPrefix = z
  .string()
  .regex(
    /^(?!\/admin(\/|$))(\/[A-Za-z0-9._~-]+)*$/,
    'needs a path such as /v1/partners, without a trailing slash and not under /admin',
  );

const count = integer(0, 1_000_000_000);

/** How the sandbox behaves where the partner's document leaves room or a test needs it. Changeable at any time. */
export const settingsSchema = strictObject({
  /** Each of these is accepted, so that an API key can be rotated. */
  apiKeys: z.array(text).min(1).default(['sandbox-key']),
  /** The path before `/products` and `/orders`. */
  listPrefix: pathPrefix.default('/v1/partners'),
  /** The path before `/place-order` and `/orders/{id}/keys`. */
  orderPrefix: pathPrefix.default(''),
  /** The names of the order history's query parameters. */
  searchParam: text.default('query'),
  pageParam: text.default('page'),
  limitParam: text.default('limit'),
  /** How many times faster than real time orders age. */
  speed: z.number().min(0).max(1_000_000).default(1),
  /** Each poll first ages its order by this much. */
  agePerPollMs: count.default(0),
  /** A decimal number in the account's currency. */
  creditLimit: money.default(10_000),
  /** `accept`: a reference may have several orders. `refuse`: a second order is rejected with 409. */
  duplicates: z.enum(['accept', 'refuse']).default('accept'),
  /** `ignored`: the parameter has no effect. `fuzzy`: part of an id or reference is enough. */
  search: z.enum(['exact', 'ignored', 'fuzzy']).default('exact'),
  historyOrder: z.enum(['newest', 'oldest']).default('newest'),
  /** What `item` shows for several products: the first one, with the quantity and amount of the whole order or its own. */
  historyItem: z.enum(['whole', 'first']).default('whole'),
  /** The delay before a new order appears in the history. */
  historyLagMs: count.default(0),
  /** How many pages of the history are served without a new order. */
  historyLagRequests: count.default(0),
  /** How many unrelated orders arrive after each page of the history. */
  historyShift: integer(0, 1_000).default(0),
  /** The maximum page size of the history, whatever limit a request has. */
  historyPageLimit: integer(1, 500).default(500),
});

export type Settings = z.output<typeof settingsSchema>;

export const DEFAULT_SETTINGS = settingsSchema.parse({});

/**
 * Parses a change and returns only the given settings.
 *
 * @throws BadInput that names every invalid or unknown setting
 */
export function parseSettings(change: unknown): Partial<Settings> {
  const settings = Object.entries(parse(settingsSchema, change));
  return Object.fromEntries(settings.filter(([name]) => (change as Record<string, unknown>)[name] !== undefined));
}

/** Options that are fixed when the sandbox starts. */
export const fixedOptions = z.object({
  /** Determines the catalogue, order ids and keys. */
  seed: text.default('sandbox'),
  /** Number of ordinary products, in addition to the scenarios. */
  products: integer(1_000, 20_000).default(1_200),
  /** Opening balance, a decimal number in the account's currency. */
  balance: money.default(100_000),
  /** The current time, in ms since the epoch. Default: the machine's clock. */
  now: z.custom<Now>().default(() => Date.now),
});

export type FixedOptions = z.input<typeof fixedOptions>;
