import { BadInput, fieldsOf, integer, list, oneOf, optional, text, type Fields } from './input';

export const OPERATIONS = ['place', 'keys', 'orders', 'products'] as const;

export type Operation = (typeof OPERATIONS)[number];

/** What is done to a call instead of a plain answer. */
export type FaultAction =
  /** No answer, until either side closes. */
  | { type: 'hang' }
  /** Waits, then goes on as if nothing were wrong, even if the client has gone. */
  | { type: 'delay'; ms: number }
  /** RST. */
  | { type: 'reset' }
  /** FIN, with no answer. */
  | { type: 'close' }
  /** Another answer. A `body` that is no text is sent as JSON; without one there is an error envelope. */
  | { type: 'answer'; status: number; headers?: Record<string, string>; body?: unknown }
  /** The plain answer's first bytes, then the end. */
  | { type: 'truncate'; bytes?: number; framing?: 'content-length' | 'chunked' | 'none' }
  /** Status and headers, then a blank every so often, for ever. */
  | { type: 'drip'; everyMs?: number }
  /** `102 Processing` every so often, for ever. */
  | { type: 'informational'; everyMs?: number }
  /** 200 with this text in the place of the JSON. */
  | { type: 'body'; text: string; contentType?: string }
  /** 200 with `success: false`. */
  | { type: 'unsuccessful' }
  /** The plain answer with other fields in its `details.data`. */
  | { type: 'merge'; data: Fields };

/** What place-order commits, where it is not the order that was asked for. */
export type FaultCommit =
  /** The order is made only after the answer: so much later, or after so many pages of the history. */
  | { type: 'late'; ms?: number; historyRequests?: number }
  /** Several orders from one request; the first one's id is answered. */
  | { type: 'copies'; count: number }
  /** Nothing is made; the answer names the first order with that reference. */
  | { type: 'same-order-as'; referenceId: string }
  /** The order is made of other items. */
  | { type: 'items'; items: { id: string; quantity: number }[] };

export interface Fault {
  operation: Operation;
  /** Acts from the nth matching call on, counted from 1; default 1. */
  nth?: number;
  /** On so many calls; default 1. */
  times?: number | 'always';
  /** Only calls with this reference: in the body of place-order, or as what the history is searched for. */
  referenceId?: string;
  /** Only calls about this order: in the path of keys, or as what the history is searched for. */
  orderId?: string;
  /** Whether the call has its effect first; default `before`, which means that it has none. */
  when?: 'before' | 'after';
  /** Acts as soon as the headers are there, with the body unread. Not together with `referenceId` or `after`. */
  beforeReading?: boolean;
  action?: FaultAction;
  commit?: FaultCommit;
}

/** A fault that has been added, and how often it has acted so far. */
export interface ActiveFault extends Fault {
  id: number;
  /** Matching calls. */
  seen: number;
  /** Calls it acted on. */
  hits: number;
}

/** What is known of a call when a fault is looked for. */
export interface Call {
  operation: Operation;
  referenceId?: string;
  orderId?: string;
}

/** The faults in the order in which they were added. The first that is due acts; the others only count the call. */
export class FaultBook {
  #faults: ActiveFault[] = [];
  #added = 0;

  /** @throws BadInput that says what is wrong with it */
  add(fault: unknown): ActiveFault {
    this.#added += 1;
    const active = { ...checkedFault(fault), id: this.#added, seen: 0, hits: 0 };
    this.#faults.push(active);
    return active;
  }

  clear(): void {
    this.#faults = [];
  }

  list(): readonly ActiveFault[] {
    return this.#faults;
  }

  /** The fault that acts on this call, at this point of it. */
  take(call: Call, beforeReading: boolean): ActiveFault | undefined {
    let acting: ActiveFault | undefined;
    for (const fault of this.#faults) {
      if ((fault.beforeReading === true) !== beforeReading || !matches(fault, call)) continue;
      fault.seen += 1;
      const left = fault.times === 'always' || fault.hits < (fault.times ?? 1);
      if (acting === undefined && left && fault.seen >= (fault.nth ?? 1)) acting = fault;
    }
    if (acting !== undefined) acting.hits += 1;
    return acting;
  }
}

function matches(fault: Fault, call: Call): boolean {
  return (
    fault.operation === call.operation &&
    (fault.referenceId === undefined || fault.referenceId === call.referenceId) &&
    (fault.orderId === undefined || fault.orderId === call.orderId)
  );
}

const FAULT_FIELDS = [
  'operation',
  'nth',
  'times',
  'referenceId',
  'orderId',
  'when',
  'beforeReading',
  'action',
  'commit',
] as const;

function checkedFault(value: unknown): Fault {
  const fields = fieldsOf(value, 'fault', FAULT_FIELDS);
  const fault: Fault = {
    operation: oneOf(fields['operation'], 'operation', OPERATIONS),
    nth: optional(fields['nth'], (nth) => integer(nth, 'nth', 1)),
    times: optional(fields['times'], (times) => (times === 'always' ? times : integer(times, 'times', 1))),
    referenceId: optional(fields['referenceId'], (reference) => text(reference, 'referenceId')),
    orderId: optional(fields['orderId'], (id) => text(id, 'orderId')),
    when: optional(fields['when'], (when) => oneOf(when, 'when', ['before', 'after'])),
    beforeReading: fields['beforeReading'] === true,
    action: optional(fields['action'], checkedAction),
    commit: optional(fields['commit'], checkedCommit),
  };
  refuseContradictions(fault);
  return fault;
}

function refuseContradictions({ operation, action, commit, when, beforeReading, referenceId }: Fault): void {
  if (action === undefined && commit === undefined) throw new BadInput('fault: needs an action or a commit');
  if (commit !== undefined && operation !== 'place') throw new BadInput('commit: only with operation place');
  if (commit?.type === 'late' && (when === 'after' || action === undefined)) {
    throw new BadInput('commit late: needs an action, which is the answer before the commit, and not when after');
  }
  if (commit !== undefined && commit.type !== 'late' && action !== undefined && when !== 'after') {
    throw new BadInput(`commit ${commit.type} with an action: needs when after`);
  }
  if (beforeReading === true && (when === 'after' || referenceId !== undefined || commit !== undefined)) {
    throw new BadInput('beforeReading: not with when after, referenceId or commit, which need the body');
  }
  if (action?.type === 'merge' && when !== 'after') throw new BadInput('action merge: needs when after');
}

const ACTIONS: { [Type in FaultAction['type']]: (fields: Fields) => FaultAction } = {
  hang: () => ({ type: 'hang' }),
  delay: ({ ms }) => ({ type: 'delay', ms: integer(ms, 'ms', 0) }),
  reset: () => ({ type: 'reset' }),
  close: () => ({ type: 'close' }),
  answer: ({ status, headers, body }) => ({
    type: 'answer',
    status: integer(status, 'status', 200, 599),
    headers: optional(headers, headersOf),
    body,
  }),
  truncate: ({ bytes, framing }) => ({
    type: 'truncate',
    bytes: optional(bytes, (count) => integer(count, 'bytes', 0)),
    framing: optional(framing, (how) => oneOf(how, 'framing', ['content-length', 'chunked', 'none'])),
  }),
  drip: ({ everyMs }) => ({ type: 'drip', everyMs: optional(everyMs, everyOf) }),
  informational: ({ everyMs }) => ({ type: 'informational', everyMs: optional(everyMs, everyOf) }),
  body: ({ text: content, contentType }) => ({
    type: 'body',
    text: content === '' ? '' : text(content, 'text'),
    contentType: optional(contentType, (type) => text(type, 'contentType')),
  }),
  unsuccessful: () => ({ type: 'unsuccessful' }),
  merge: ({ data }) => ({ type: 'merge', data: objectOf(data, 'data') }),
};

const ACTION_TYPES = Object.keys(ACTIONS) as FaultAction['type'][];

function checkedAction(value: unknown): FaultAction {
  const fields = objectOf(value, 'action');
  const type = oneOf(fields['type'], 'action type', ACTION_TYPES);
  const checked = ACTIONS[type](fields);
  fieldsOf(value, `action ${type}`, Object.keys(checked));
  return checked;
}

const COMMITS: { [Type in FaultCommit['type']]: (fields: Fields) => FaultCommit } = {
  late: ({ ms, historyRequests }) => ({
    type: 'late',
    ms: optional(ms, (delay) => integer(delay, 'ms', 0)),
    historyRequests: optional(historyRequests, (count) => integer(count, 'historyRequests', 1)),
  }),
  copies: ({ count }) => ({ type: 'copies', count: integer(count, 'count', 2, 100) }),
  'same-order-as': ({ referenceId }) => ({ type: 'same-order-as', referenceId: text(referenceId, 'referenceId') }),
  items: ({ items }) => ({ type: 'items', items: checkedItems(items) }),
};

const COMMIT_TYPES = Object.keys(COMMITS) as FaultCommit['type'][];

function checkedCommit(value: unknown): FaultCommit {
  const fields = objectOf(value, 'commit');
  const type = oneOf(fields['type'], 'commit type', COMMIT_TYPES);
  const checked = COMMITS[type](fields);
  fieldsOf(value, `commit ${type}`, Object.keys(checked));
  return checked;
}

/** @throws BadInput unless it is a list of one to a hundred products with quantities from 1 to 10,000 */
export function checkedItems(value: unknown): { id: string; quantity: number }[] {
  const items = list(value, 'items');
  if (items.length < 1 || items.length > 100) throw new BadInput('items: needs 1 to 100 of them');
  return items.map((item) => {
    const { id, quantity } = objectOf(item, 'items[]');
    return { id: text(id, 'items[].id'), quantity: integer(quantity, 'items[].quantity', 1, 10_000) };
  });
}

/** @throws BadInput */
export function objectOf(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new BadInput(`${what}: needs an object`);
}

function everyOf(value: unknown): number {
  return integer(value, 'everyMs', 1);
}

function headersOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(objectOf(value, 'headers')).map(([name, content]) => [name, text(content, `headers ${name}`)]),
  );
}
