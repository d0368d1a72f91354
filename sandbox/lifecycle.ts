/** Maps the ordered quantity to a number of units. */
type Share = (ordered: number) => number;

/** The state of a line from age `atMs` on. */
export interface Step {
  atMs: number;
  status: string;
  /** Keys available. The default depends on the status: all, half or none. */
  keys?: Share;
  /** Units charged. Default: all; for PARTIAL_COMPLETED, those with a key; for FAILED, none. */
  paid?: Share;
}

/** The steps of one ordered product as its order ages. The first is at 0. */
export type Lifecycle = readonly [Step, ...Step[]];

/** One line of an order: everything its state depends on. */
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

/** The state of an order. Money is in minor units of the account's currency. */
export interface OrderState {
  status: string;
  lines: LineState[];
  /** Amount charged, including any later refund. */
  debitedMinor: number;
  refundedMinor: number;
}

const ENDED = ['COMPLETED', 'PARTIAL_COMPLETED', 'FAILED', 'REFUNDED'];

export const all: Share = (ordered) => ordered;
export const half: Share = (ordered) => Math.floor(ordered / 2);
const none: Share = () => 0;

/** The state of an order at this age. `forced` is a status set through the admin route. */
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

/** The age at which an order of these lines changes for the last time. */
export function finalAtMs(lines: readonly OrderedProduct[]): number {
  return Math.max(...lines.map((line) => line.lifecycle[line.lifecycle.length - 1]?.atMs ?? 0));
}

function stepAt(lifecycle: Lifecycle, ageMs: number): Step {
  return lifecycle.findLast((step) => step.atMs <= ageMs) ?? lifecycle[0];
}

/** One status for several lines. One open line keeps the order open; mixed results are a partial completion. */
function combined(statuses: string[]): string {
  const distinct = [...new Set(statuses)];
  const [only] = distinct;
  if (only !== undefined && distinct.length === 1) return only;

  const open = distinct.filter((status) => !ENDED.includes(status));
  if (open.length > 0) return open.find((status) => !['PENDING', 'PROCESSING'].includes(status)) ?? 'PROCESSING';
  return distinct.some((status) => status.endsWith('COMPLETED')) ? 'PARTIAL_COMPLETED' : 'REFUNDED';
}

/** While the order is open, the full price is debited and no key is available. */
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
