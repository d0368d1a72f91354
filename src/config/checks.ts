import type { Fault } from './error';
import { type Environment, fileVariableOf, isSet } from './variable';
import { descriptionOf, type Name, NAMES, type Values } from './variables';

/** What can be wrong with variables that are right each for itself. `values` lacks those that are not. */
export function conflicts(values: Partial<Values>, env: Environment): Fault[] {
  return [...faultsOfAddresses(values, env), ...faultsOfDestination(env)];
}

/** Three names that are the same would be one parameter. */
export function faultsOfHistoryParams(values: Partial<Values>, env: Environment): Fault[] {
  const names = ['PARTNER_HISTORY_SEARCH_PARAM', 'PARTNER_HISTORY_PAGE_PARAM', 'PARTNER_HISTORY_LIMIT_PARAM'] as const;
  return names
    .filter((name, index) => names.some((other, before) => before < index && isSame(values[name], values[other])))
    .map((name) => fault(env, name, 'a name that the other two parameters do not have', 'Give each its own.'));
}

function faultsOfAddresses(values: Partial<Values>, env: Environment): Fault[] {
  const { HEALTH_ADDRESS: health, METRICS_ADDRESS: metrics } = values;
  if (!health || !metrics || health.port === 0) return [];
  if (health.host !== metrics.host || health.port !== metrics.port) return [];
  return [fault(env, 'METRICS_ADDRESS', 'another address than HEALTH_ADDRESS', 'Choose another port.')];
}

function faultsOfDestination(env: Environment): Fault[] {
  const hasUrl = isSet(env, 'DELIVERY_URL');
  const hasDir = isSet(env, 'DELIVERY_DIR');
  if (hasUrl === hasDir) {
    return [
      {
        variable: 'DELIVERY_URL',
        expected: 'either DELIVERY_URL or DELIVERY_DIR',
        got: hasUrl ? 'both' : 'neither',
        remedy: hasUrl ? 'Remove one of them.' : 'Set the one that says where keys are to go.',
      },
    ];
  }
  // Whether it is right is its own matter.
  const hasSecret = isSet(env, 'DELIVERY_SECRET') || isSet(env, fileVariableOf('DELIVERY_SECRET'));
  if (hasDir || hasSecret) return [];
  return [
    {
      variable: 'DELIVERY_SECRET',
      expected: 'a secret, because DELIVERY_URL is set and what is posted there is signed',
      got: 'nothing',
      remedy: `Set DELIVERY_SECRET to ${descriptionOf('DELIVERY_SECRET').example}, here and at the receiver.`,
    },
  ];
}

function fault(env: Environment, variable: Name, expected: string, remedy: string): Fault {
  return { variable, expected, got: writtenOf(env, variable), remedy };
}

function writtenOf(env: Environment, name: Name): string {
  if (isSet(env, name)) return env[name] ?? '';
  return `${descriptionOf(name).default ?? 'nothing'} (the default)`;
}

function isSame(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one === other;
}

/** Kubernetes puts these into every container for a service that happens to be called `delivery` or `partner`. */
const SERVICE_LINK = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** A variable of ours that nobody reads is most likely misspelt, and its default would silently be used. */
export function faultsOfUnknownNames(env: Environment, prefixes: readonly string[]): Fault[] {
  const known = NAMES.flatMap((name) => (descriptionOf(name).secret ? [name, fileVariableOf(name)] : [name]));
  return Object.keys(env)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
    .filter((name) => !known.includes(name) && !SERVICE_LINK.test(name))
    .toSorted()
    .map((name) => ({
      variable: name,
      expected: 'a name that this software knows',
      got: 'one that it does not',
      remedy: `The nearest is ${nearest(name, known)}; rename it or remove it.`,
    }));
}

function nearest(name: string, known: readonly string[]): string {
  return known.toSorted((one, other) => distance(name, one) - distance(name, other))[0] ?? '';
}

/** How many letters have to be put in, taken out or exchanged. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let index = 0; index < one.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < other.length; column++) {
      const exchanged = (row[column] ?? 0) + (one[index] === other[column] ? 0 : 1);
      next.push(Math.min(exchanged, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
