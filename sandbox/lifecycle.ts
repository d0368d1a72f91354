/** How many of `ordered` units something holds for. */
type Share = (ordered: number) => number;

/** From `atMs` of an order's age on, this is where its line stands. */
export interface Step {
  atMs: number;
  status: string;
  /** Keys to be had; by default what the status promises: all, half or none. */
  keys?: Share;
  /** Units that are charged; by default all, for PARTIAL_COMPLETED those with a key, for FAILED none. */
  paid?: Share;
}

/** What becomes of one ordered product as its order grows older. The first step is at 0. */
export type Lifecycle = readonly [Step, ...Step[]];

/** What an order's state depends on, line by line. */
export interface OrderedProduct {
  lifecycle: Lifecycle;
  quantity: number;
  unitMinor: number;
}

interface LineState {
  keys: number;
  debitedMinor: number;
  refundedMinor: number;
}

/** Where an order stands. Money is in minor units of the account's currency. */
export interface OrderState {
  status: string;
  lines: LineState[];
  /** What was charged, whether or not it was given back later. */
  debitedMinor: number;
  refundedMinor: number;
}

const ENDED = ['COMPLETED', 'PARTIAL_COMPLETED', 'FAILED', 'REFUNDED'];

export const all: Share = (ordered) => ordered;
export const half: Share = (ordered) => Math.floor(ordered / 2);
const none: Share = () => 0;

/** Where an order of this age stands. `forced` is a status that a person gave the whole order. */
export function stateAt(lines: readonly OrderedProduct[], ageMs: number, forced?: string): OrderState {
  const steps = lines.map((line) =>
    forced === undefined ? stepAt(line.lifecycle, ageMs) : { atMs: 0, status: forced },
  );
  const status = combined(steps.map((step) => step.status));
  const ended = ENDED.includes(status);
  const states = lines.map((line, at) => lineState(line, steps[at] ?? line.lifecycle[0], ended));
  return {
    status,
    lines: states,
    debitedMinor: sum(states.map((state) => state.debitedMinor)),
    refundedMinor: sum(states.map((state) => state.refundedMinor)),
  };
}

/** The age at which the last thing happens to an order of these lines. */
export function finalAtMs(lines: readonly OrderedProduct[]): number {
  return Math.max(...lines.map((line) => line.lifecycle[line.lifecycle.length - 1]?.atMs ?? 0));
}

function stepAt(lifecycle: Lifecycle, ageMs: number): Step {
  return lifecycle.findLast((step) => step.atMs <= ageMs) ?? lifecycle[0];
}

/** One status for several lines. A line that is still open keeps the order open; a mixed end is a partial one. */
function combined(statuses: string[]): string {
  const distinct = [...new Set(statuses)];
  const [only] = distinct;
  if (only !== undefined && distinct.length === 1) return only;

  const open = distinct.filter((status) => !ENDED.includes(status));
  if (open.length > 0) return open.find((status) => !['PENDING', 'PROCESSING'].includes(status)) ?? 'PROCESSING';
  return distinct.some((status) => status.endsWith('COMPLETED')) ? 'PARTIAL_COMPLETED' : 'REFUNDED';
}

/** While the order is open its whole price is taken and nothing is handed out. */
function lineState(line: OrderedProduct, step: Step, orderEnded: boolean): LineState {
  const { quantity, unitMinor } = line;
  if (!orderEnded) return { keys: 0, debitedMinor: quantity * unitMinor, refundedMinor: 0 };

  const keys = (step.keys ?? keysPromisedBy(step.status))(quantity);
  const debitedMinor = (step.paid?.(quantity) ?? unitsPaid(step.status, quantity, keys)) * unitMinor;
  return { keys, debitedMinor, refundedMinor: step.status === 'REFUNDED' ? debitedMinor : 0 };
}

function keysPromisedBy(status: string): Share {
  if (status === 'COMPLETED') return all;
  return status === 'PARTIAL_COMPLETED' ? half : none;
}

function unitsPaid(status: string, ordered: number, keys: number): number {
  if (status === 'FAILED') return 0;
  return status === 'PARTIAL_COMPLETED' ? keys : ordered;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
