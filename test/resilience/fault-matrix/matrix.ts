import type { Fault } from '../../../sandbox/index';
import { booked, delivering, polling, type CrashPoint, placing, searching, settling } from '../support/crash-points';
import type { Answer } from '../../support/receiver';

type Action = NonNullable<Fault['action']>;

/**
 * One pair of a crash point and a fault. `beyond` marks pairs that no finite wait can prevent, which are counted apart:
 * the partner makes two orders of one request, or books one long after the confirmation window.
 */
export interface Cell extends CrashPoint {
  beyond?: 'two orders of one request' | 'booked after the confirmation window';
}

/** Every fault that the sandbox can give a call. */
const ACTIONS: Record<string, Action> = {
  hangs: { type: 'hang' },
  'continues after the caller has gone': { type: 'delay', ms: 1_500 },
  'is reset': { type: 'reset' },
  'is closed': { type: 'close' },
  'returns 429 with a Retry-After': { type: 'answer', status: 429, headers: { 'retry-after': '1' } },
  'returns 408': { type: 'answer', status: 408 },
  'returns 500': { type: 'answer', status: 500 },
  'returns 502 with an HTML page': { type: 'answer', status: 502, body: '<h1>Bad gateway</h1>' },
  'returns 401': { type: 'answer', status: 401 },
  'returns 404': { type: 'answer', status: 404 },
  'returns 409': { type: 'answer', status: 409 },
  'is redirected': { type: 'answer', status: 307, headers: { location: 'http://127.0.0.1:9/' } },
  'breaks off, with a length': { type: 'truncate', framing: 'content-length' },
  'breaks off, in chunks': { type: 'truncate', framing: 'chunked' },
  'breaks off, unframed': { type: 'truncate', framing: 'none' },
  drips: { type: 'drip' },
  'returns 102 forever': { type: 'informational' },
  'is a page': { type: 'body', text: '<html>welcome</html>', contentType: 'text/html' },
  'reports no success': { type: 'unsuccessful' },
};

/** Further faults of the partner for one placement. */
const BEFORE_ONLY: Record<string, Action> = { 'returns 422': { type: 'answer', status: 422 } };
const AFTER_ONLY: Record<string, Action> = {
  'returns an id that is a path': { type: 'merge', data: { id: '../admin' } },
  'returns no id': { type: 'merge', data: { id: null } },
};

const RESPONSE_KINDS: Answer[] = [
  ...(['hang', 'reset', 'take-and-hang', 'take-and-reset', 'head-only'] as const),
  ...[500, 503, 404, 301, 410],
  { status: 429, headers: { 'retry-after': '1' } },
];

/**
 * When the partner books much too late: after a dead worker's placement has timed out, was confirmed and was replaced.
 */
export const MUCH_LATER_MS = 60_000;

/** Cells with a fault in place-order itself: the worker is killed at the moment of the fault. */
export function placingCells(): Cell[] {
  return [
    ...each({ ...ACTIONS, ...BEFORE_ONLY }, (name, action) => placing(name, 'before', { action })),
    ...each({ ...ACTIONS, ...AFTER_ONLY }, (name, action) => placing(name, 'after', { action })),
    placing('500, and books two seconds later', 'before', late(2_000)),
    {
      ...placing('500, and books much later', 'before', late(MUCH_LATER_MS)),
      beyond: 'booked after the confirmation window',
    },
    { ...placing('two orders', 'after', copies()), beyond: 'two orders of one request' },
    {
      ...placing('two orders, and no response', 'after', copies({ type: 'reset' })),
      beyond: 'two orders of one request',
    },
    placing('other items', 'after', { commit: { type: 'items', items: [{ id: 'demo-instant', quantity: 3 }] } }),
    ...Array.from({ length: 6 }, booked),
  ];
}

/** Cells of all other crash points: the worker is killed when every purchase has reached its own. */
export function otherCells(): Cell[] {
  return [
    ...each(ACTIONS, searching),
    ...each(ACTIONS, (name, action) => settling(name, 'before', action)),
    ...each(ACTIONS, (name, action) => settling(name, 'after', action)),
    ...each(ACTIONS, (name, action) => polling(name, action)),
    ...RESPONSE_KINDS.map(delivering),
  ];
}

/** Cells for a history with weaknesses: all that make the history the only evidence. */
export function witnessCells(): Cell[] {
  const names = ['hangs', 'is reset', 'returns 500', 'breaks off, unframed'];
  const lost = Object.fromEntries(Object.entries(ACTIONS).filter(([name]) => names.includes(name)));
  return [
    ...each(lost, (name, action) => placing(name, 'before', { action })),
    ...each(lost, (name, action) => placing(name, 'after', { action })),
    ...Array.from({ length: 4 }, booked),
  ];
}

function late(ms: number): { action: Action; commit: NonNullable<Fault['commit']> } {
  return { action: { type: 'answer', status: 500 }, commit: { type: 'late', ms } };
}

function copies(action?: Action): { action?: Action; commit: NonNullable<Fault['commit']> } {
  return { commit: { type: 'copies', count: 2 }, ...(action && { action }) };
}

function each(actions: Record<string, Action>, cell: (name: string, action: Action) => Cell): Cell[] {
  return Object.entries(actions).map(([name, action]) => cell(name, action));
}
