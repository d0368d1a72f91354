import { toMinor } from './currency';
import { BadInput, fieldsOf, integer, list, oneOf, text } from './input';

/** How the sandbox behaves where the partner's document leaves it open, or where a test wants it to. Can change any time. */
export interface Settings {
  /** Any of these is accepted, so that a key can be rotated. */
  apiKeys: string[];
  /** Before `/products` and `/orders`. */
  listPrefix: string;
  /** Before `/place-order` and `/orders/{id}/keys`. */
  orderPrefix: string;
  /** Names of the order history's query parameters. */
  searchParam: string;
  pageParam: string;
  limitParam: string;
  /** Orders age so many times faster than the calendar. */
  speed: number;
  /** Each look at an order's keys makes that order so much older, before the look is answered. */
  perLookMs: number;
  /** In the account's currency, as a decimal number. */
  creditLimit: number;
  /** Whether a second order may bear a reference that is taken, or is answered with 409. */
  duplicates: 'accept' | 'refuse';
  /** `ignored`: the parameter is not looked at; `fuzzy`: part of an id or reference is enough. */
  search: 'exact' | 'ignored' | 'fuzzy';
  historyOrder: 'newest' | 'oldest';
  /** What `item` shows of an order of several products: the first with the whole order's quantity and amount, or with its own. */
  historyItem: 'whole' | 'first';
  /** An order shows up in the history only so long after it was committed. */
  historyLagMs: number;
  /** An order stays out of so many answers of the history after it was committed. */
  historyLagRequests: number;
  /** So many orders of nobody in particular come in after each page of the history. */
  historyShift: number;
}

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

type Check = (value: unknown, name: string) => unknown;

const count: Check = (value, name) => integer(value, name, 0, 1_000_000_000);

const CHECKS: Record<keyof Settings, Check> = {
  apiKeys: (value, name) => {
    const keys = list(value, name);
    if (keys.length === 0) throw new BadInput(`${name}: needs at least one`);
    return keys.map((key) => text(key, name));
  },
  listPrefix: prefix,
  orderPrefix: prefix,
  searchParam: text,
  pageParam: text,
  limitParam: text,
  speed,
  perLookMs: count,
  creditLimit: money,
  duplicates: (value, name) => oneOf(value, name, ['accept', 'refuse']),
  search: (value, name) => oneOf(value, name, ['exact', 'ignored', 'fuzzy']),
  historyOrder: (value, name) => oneOf(value, name, ['newest', 'oldest']),
  historyItem: (value, name) => oneOf(value, name, ['whole', 'first']),
  historyLagMs: count,
  historyLagRequests: count,
  historyShift: (value, name) => integer(value, name, 0, 1_000),
};

const NAMES = Object.keys(CHECKS) as (keyof Settings)[];

/**
 * The settings among `change` that are given.
 * @throws BadInput that names every setting that is wrong or unknown
 */
export function checkedSettings(change: unknown): Partial<Settings> {
  const fields = fieldsOf(change, 'settings', NAMES);
  const wrong: string[] = [];
  for (const name of NAMES) {
    if (fields[name] === undefined) continue;
    try {
      CHECKS[name](fields[name], name);
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      wrong.push(error.message);
    }
  }
  if (wrong.length > 0) throw new BadInput(wrong.join('\n'));
  return Object.fromEntries(NAMES.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]));
}

/** An amount of money of zero or more. */
export function money(value: unknown, name: string): number {
  try {
    if (typeof value === 'number' && toMinor(value) >= 0) return value;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new BadInput(`${name}: needs an amount such as 100 or 99.95`);
}

function prefix(value: unknown, name: string): string {
  if (value === '') return value;
  const path = text(value, name);
  if (/^(\/[A-Za-z0-9._~-]+)+$/.test(path) && !/^\/admin(\/|$)/.test(path)) return path;
  throw new BadInput(`${name}: needs a path such as /v1/partners, without a slash at its end and not under /admin`);
}

function speed(value: unknown, name: string): number {
  if (typeof value === 'number' && value >= 0 && value <= 1_000_000) return value;
  throw new BadInput(`${name}: needs a number from 0 to 1000000`);
}
