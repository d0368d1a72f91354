import { z } from 'zod';
import type { SandboxOptions } from './index';
import { digits, integer, parse, strictObject, text } from './input';
import { fixedOptions, settingsSchema } from './settings';

/** What the process starts with. */
export interface ProcessOptions extends SandboxOptions {
  port: number;
  host: string;
  /** Orders of earlier days that the history starts with. */
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

const variables = strictObject({
  PORT: digits.pipe(integer(0, 65_535)).prefault('4010'),
  HOST: z.string().default('127.0.0.1'),
  SANDBOX_SEED: text.optional(),
  SANDBOX_PRODUCTS: digits.pipe(fixedOptions.shape.products.unwrap()).optional(),
  SANDBOX_BALANCE: digits.pipe(integer(0, 1_000_000_000)).optional(),
  SANDBOX_PAST: digits.pipe(integer(0, 200_000)).prefault('0'),
  SANDBOX_API_KEY: words.pipe(shape.apiKeys).optional(),
  SANDBOX_LIST_PREFIX: shape.listPrefix.optional(),
  SANDBOX_ORDER_PREFIX: shape.orderPrefix.optional(),
  SANDBOX_HISTORY_SEARCH_PARAM: shape.searchParam.optional(),
  SANDBOX_HISTORY_PAGE_PARAM: shape.pageParam.optional(),
  SANDBOX_HISTORY_LIMIT_PARAM: shape.limitParam.optional(),
  SANDBOX_SPEED: number.pipe(shape.speed).optional(),
  SANDBOX_PER_LOOK: duration.pipe(shape.perLookMs).optional(),
  SANDBOX_CREDIT_LIMIT: number.pipe(shape.creditLimit).optional(),
  SANDBOX_DUPLICATES: shape.duplicates.optional(),
  SANDBOX_SEARCH: shape.search.optional(),
  SANDBOX_HISTORY_ORDER: shape.historyOrder.optional(),
  SANDBOX_HISTORY_ITEM: shape.historyItem.optional(),
  SANDBOX_HISTORY_LAG: duration.pipe(shape.historyLagMs).optional(),
});

/**
 * Reads the process's options.
 * @throws BadInput with one line for each variable that is wrong, or that is called `SANDBOX_…` and unknown
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): ProcessOptions {
  const ours = Object.entries(env).filter(([name]) => name.startsWith('SANDBOX_') || name in variables.shape);
  const values = parse(variables, Object.fromEntries(ours));
  return {
    port: values.PORT,
    host: values.HOST,
    seed: values.SANDBOX_SEED,
    products: values.SANDBOX_PRODUCTS,
    balance: values.SANDBOX_BALANCE,
    past: values.SANDBOX_PAST,
    apiKeys: values.SANDBOX_API_KEY,
    listPrefix: values.SANDBOX_LIST_PREFIX,
    orderPrefix: values.SANDBOX_ORDER_PREFIX,
    searchParam: values.SANDBOX_HISTORY_SEARCH_PARAM,
    pageParam: values.SANDBOX_HISTORY_PAGE_PARAM,
    limitParam: values.SANDBOX_HISTORY_LIMIT_PARAM,
    speed: values.SANDBOX_SPEED,
    perLookMs: values.SANDBOX_PER_LOOK,
    creditLimit: values.SANDBOX_CREDIT_LIMIT,
    duplicates: values.SANDBOX_DUPLICATES,
    search: values.SANDBOX_SEARCH,
    historyOrder: values.SANDBOX_HISTORY_ORDER,
    historyItem: values.SANDBOX_HISTORY_ITEM,
    historyLagMs: values.SANDBOX_HISTORY_LAG,
  };
}
