import type { SandboxOptions } from './index';
import { BadInput } from './input';
import { checkedSettings } from './settings';

/** What the process starts with. */
export interface ProcessOptions extends SandboxOptions {
  port: number;
  host: string;
  /** Orders of earlier days that the history starts with. */
  past: number;
}

type Read = (value: string) => unknown;

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const A_DURATION = 'needs a duration such as 500ms, 30s, 25m or 24h';

const words: Read = (value) => value.split(/\s+/).filter((word) => word !== '');
const asItIs: Read = (value) => value;
const number: Read = (value) => (/^\d+(\.\d+)?$/.test(value) ? Number(value) : value);
const duration: Read = (value) => {
  const [, amount, unit = ''] = /^(\d+)(ms|s|m|h)$/.exec(value) ?? [];
  return amount === undefined ? value : Number(amount) * (UNITS[unit] ?? 1);
};

const SETTINGS: Record<string, { name: string; read: Read }> = {
  SANDBOX_API_KEY: { name: 'apiKeys', read: words },
  SANDBOX_LIST_PREFIX: { name: 'listPrefix', read: asItIs },
  SANDBOX_ORDER_PREFIX: { name: 'orderPrefix', read: asItIs },
  SANDBOX_HISTORY_SEARCH_PARAM: { name: 'searchParam', read: asItIs },
  SANDBOX_HISTORY_PAGE_PARAM: { name: 'pageParam', read: asItIs },
  SANDBOX_HISTORY_LIMIT_PARAM: { name: 'limitParam', read: asItIs },
  SANDBOX_SPEED: { name: 'speed', read: number },
  SANDBOX_PER_LOOK: { name: 'perLookMs', read: duration },
  SANDBOX_CREDIT_LIMIT: { name: 'creditLimit', read: number },
  SANDBOX_DUPLICATES: { name: 'duplicates', read: asItIs },
  SANDBOX_SEARCH: { name: 'search', read: asItIs },
  SANDBOX_HISTORY_ORDER: { name: 'historyOrder', read: asItIs },
  SANDBOX_HISTORY_ITEM: { name: 'historyItem', read: asItIs },
  SANDBOX_HISTORY_LAG: { name: 'historyLagMs', read: duration },
};

const OTHERS = ['SANDBOX_SEED', 'SANDBOX_BALANCE', 'SANDBOX_PRODUCTS', 'SANDBOX_PAST'];

/**
 * Reads the process's options.
 * @throws BadInput with one line for each variable that is wrong, or that is called `SANDBOX_…` and unknown
 */
export function optionsFrom(env: Readonly<Record<string, string | undefined>>): ProcessOptions {
  const wrong = Object.keys(env)
    .filter((name) => name.startsWith('SANDBOX_') && !(name in SETTINGS) && !OTHERS.includes(name))
    .map((name) => `${name}: unknown; there is ${[...Object.keys(SETTINGS), ...OTHERS].join(', ')}`);

  const settings = {};
  for (const [variable, { name, read }] of Object.entries(SETTINGS)) {
    const value = env[variable];
    if (value === undefined) continue;
    try {
      Object.assign(settings, checkedSettings({ [name]: read(value) }));
    } catch (error) {
      wrong.push(`${variable}: ${read === duration ? A_DURATION : (error as Error).message.replace(`${name}: `, '')}`);
    }
  }
  const integer = (name: string, from: number, to: number, otherwise: number): number => {
    const value = env[name] ?? String(otherwise);
    if (!/^\d+$/.test(value) || Number(value) < from || Number(value) > to) {
      wrong.push(`${name}: needs an integer from ${from} to ${to}`);
    }
    return Number(value);
  };
  const options = {
    ...settings,
    port: integer('PORT', 0, 65_535, 4010),
    host: env['HOST'] ?? '127.0.0.1',
    seed: env['SANDBOX_SEED'] ?? 'sandbox',
    products: integer('SANDBOX_PRODUCTS', 1_000, 20_000, 1_200),
    balance: integer('SANDBOX_BALANCE', 0, 1_000_000_000, 100_000),
    past: integer('SANDBOX_PAST', 0, 200_000, 0),
  };
  if (options.seed === '') wrong.push('SANDBOX_SEED: is empty');
  if (wrong.length > 0) throw new BadInput(wrong.join('\n'));
  return options;
}
