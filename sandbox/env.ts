import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { SandboxOptions } from './index';
import { digits, integer, parse, strictObject, text } from './input';
import { fixedOptions, settingsSchema } from './settings';

/** Options of the sandbox process. */
export interface ProcessOptions extends SandboxOptions {
  port: number;
  host: string;
  /** Number of past orders in the history at start-up. */
  past: number;
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const duration = z
  .string()
  .regex(/^\d+(ms|s|m|h)$/, 'needs a duration such as 500ms, 30s, 25m or 24h')
  .transform((written) => parseInt(written, 10) * (UNIT_MS[written.replace(/^\d+/, '')] ?? 1));
const number = z
  .string()
  .regex(/^\d+(\.\d+)?$/, 'needs a number')
  .transform(Number);
const words = z.string().transform((written) => written.split(/\s+/).filter((word) => word !== ''));

const { shape } = settingsSchema;

/** Each variable, the option it sets, and its schema. */
const VARIABLES = {
  PORT: ['port', digits.pipe(integer(0, 65_535)).prefault('4010')],
  HOST: ['host', z.string().default('127.0.0.1')],
  // Not a fixed seed: a purchase that outlives the sandbox must not meet its own order id again.
  SANDBOX_SEED: ['seed', text.default(() => randomUUID())],
  SANDBOX_PRODUCTS: ['products', digits.pipe(fixedOptions.shape.products.unwrap()).optional()],
  SANDBOX_BALANCE: ['balance', digits.pipe(integer(0, 1_000_000_000)).optional()],
  SANDBOX_PAST: ['past', digits.pipe(integer(0, 200_000)).prefault('0')],
  SANDBOX_API_KEY: ['apiKeys', words.pipe(shape.apiKeys.unwrap()).optional()],
  SANDBOX_LIST_PREFIX: ['listPrefix', shape.listPrefix],
  SANDBOX_ORDER_PREFIX: ['orderPrefix', shape.orderPrefix],
  SANDBOX_HISTORY_SEARCH_PARAM: ['searchParam', shape.searchParam],
  SANDBOX_HISTORY_PAGE_PARAM: ['pageParam', shape.pageParam],
  SANDBOX_HISTORY_LIMIT_PARAM: ['limitParam', shape.limitParam],
  SANDBOX_SPEED: ['speed', number.pipe(shape.speed.unwrap()).optional()],
  SANDBOX_AGE_PER_POLL: ['agePerPollMs', duration.pipe(shape.agePerPollMs.unwrap()).optional()],
  SANDBOX_CREDIT_LIMIT: ['creditLimit', number.pipe(shape.creditLimit.unwrap()).optional()],
  SANDBOX_DUPLICATES: ['duplicates', shape.duplicates],
  SANDBOX_SEARCH: ['search', shape.search],
  SANDBOX_HISTORY_ORDER: ['historyOrder', shape.historyOrder],
  SANDBOX_HISTORY_ITEM: ['historyItem', shape.historyItem],
  SANDBOX_HISTORY_LAG: ['historyLagMs', duration.pipe(shape.historyLagMs.unwrap()).optional()],
} as const satisfies Record<string, readonly [keyof ProcessOptions, z.ZodType]>;

const variables = strictObject(mapped(([name, [, schema]]) => [name, schema]));

/**
 * Reads the options from the environment.
 *
 * @throws BadInput with one line for each invalid variable and each unknown `SANDBOX_…` variable
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): ProcessOptions {
  const ours = Object.entries(env).filter(([name]) => name.startsWith('SANDBOX_') || name in VARIABLES);
  const values = parse(variables, Object.fromEntries(ours));
  return mapped(([name, [option]]) => [option, values[name]]) as unknown as ProcessOptions;
}

function mapped<T>(entry: (variable: [string, readonly [keyof ProcessOptions, z.ZodType]]) => [string, T]) {
  return Object.fromEntries(Object.entries(VARIABLES).map(entry));
}
