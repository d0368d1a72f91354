import { EventEmitter, once } from 'node:events';
import { z } from 'zod';
import { integer, orderItems, parse, strictObject, text } from './input';

const OPERATIONS = ['place', 'keys', 'orders', 'products'] as const;

export type Operation = (typeof OPERATIONS)[number];

/** What is done to a call instead of the normal answer. */
const action = z.discriminatedUnion('type', [
  /** No answer, until either side closes. */
  strictObject({ type: z.literal('hang') }),
  /** Waits, then goes on as if nothing were wrong, even if the client has gone. */
  strictObject({ type: z.literal('delay'), ms: integer(0) }),
  /** Waits until the faults are deleted, then goes on as if nothing were wrong. */
  strictObject({ type: z.literal('wait') }),
  /** RST. */
  strictObject({ type: z.literal('reset') }),
  /** FIN, with no answer. */
  strictObject({ type: z.literal('close') }),
  /** Another answer. A `body` that is no string is sent as JSON; without one there is an error envelope. */
  strictObject({
    type: z.literal('answer'),
    status: integer(200, 599),
    headers: z.record(z.string(), text).optional(),
    body: z.unknown().optional(),
  }),
  /** The normal answer's first bytes, then the end. */
  strictObject({
    type: z.literal('truncate'),
    bytes: integer(0).optional(),
    framing: z.enum(['content-length', 'chunked', 'none']).optional(),
  }),
  /** Status and headers, then a space every so often, for ever. */
  strictObject({ type: z.literal('drip'), everyMs: integer(1).optional() }),
  /** `102 Processing` every so often, for ever. */
  strictObject({ type: z.literal('informational'), everyMs: integer(1).optional() }),
  /** 200 with this text in the place of the JSON. */
  strictObject({ type: z.literal('body'), text: z.string(), contentType: text.optional() }),
  /** 200 with `success: false`. */
  strictObject({ type: z.literal('unsuccessful') }),
  /** The normal answer with other fields in its `details.data`. */
  strictObject({ type: z.literal('merge'), data: z.record(z.string(), z.unknown()) }),
]);

/** What place-order commits, where it is not the order that was asked for. */
const commit = z.discriminatedUnion('type', [
  /** The order is made only after the answer: so much later, or after so many pages of the history. */
  strictObject({
    type: z.literal('late'),
    ms: integer(0).optional(),
    historyRequests: integer(1).optional(),
  }),
  /** Several orders from one request; the first one's id is answered. */
  strictObject({ type: z.literal('copies'), count: integer(2, 100) }),
  /** Nothing is made; the answer names the first order with that reference. */
  strictObject({ type: z.literal('same-order-as'), referenceId: text }),
  /** The order is made of other items. */
  strictObject({ type: z.literal('items'), items: orderItems }),
]);

const fault = strictObject({
  operation: z.enum(OPERATIONS),
  /** Acts from the nth matching call on, counted from 1; default 1. */
  nth: integer(1).optional(),
  /** On so many calls; default 1. */
  times: z.union([z.literal('always'), integer(1)]).optional(),
  /** Only calls with this reference: in the body of place-order, or as what the history is searched for. */
  referenceId: text.optional(),
  /** Only calls about this order: in the path of keys, or as what the history is searched for. */
  orderId: text.optional(),
  /** Whether the call has its effect first; default `before`, which means that it has none. */
  when: z.enum(['before', 'after']).optional(),
  /** Acts as soon as the headers are there, with the body unread. Not together with `referenceId` or `after`. */
  beforeReading: z.boolean().default(false),
  action: action.optional(),
  commit: commit.optional(),
}).superRefine((given, context) => {
  const contradiction = contradictionIn(given);
  if (contradiction !== undefined) context.addIssue(contradiction);
});

export type Fault = z.input<typeof fault>;
export type FaultAction = z.output<typeof action>;
export type FaultCommit = z.output<typeof commit>;

function contradictionIn({ operation, action, commit, when, beforeReading, referenceId }: Fault): string | undefined {
  if (action === undefined && commit === undefined) return 'fault: needs an action or a commit';
  if (commit !== undefined && operation !== 'place') return 'commit: only with operation place';
  if (commit?.type === 'late' && (when === 'after' || action === undefined)) {
    return 'commit late: needs an action, which is the answer before the commit, and not when after';
  }
  if (commit !== undefined && commit.type !== 'late' && action !== undefined && when !== 'after') {
    return `commit ${commit.type} with an action: needs when after`;
  }
  if (beforeReading === true && (when === 'after' || referenceId !== undefined || commit !== undefined)) {
    return 'beforeReading: not with when after, referenceId or commit, which need the body';
  }
  return action?.type === 'merge' && when !== 'after' ? 'action merge: needs when after' : undefined;
}

/** A fault that has been added, and how often it has acted so far. */
export interface ActiveFault extends Fault {
  id: number;
  /** Matching calls. */
  seen: number;
  /** Calls it acted on. */
  hits: number;
}

/** What is known of a call when a fault is searched for. */
export interface Call {
  operation: Operation;
  referenceId?: string;
  orderId?: string;
}

/** Faults in the order in which they were added: the first that matches acts. */
export class FaultList {
  #faults: ActiveFault[] = [];
  #added = 0;
  #deleted = new EventEmitter().setMaxListeners(0);

  /** Resolves when the faults are deleted. @throws AbortError */
  async untilDeleted(signal: AbortSignal): Promise<void> {
    await once(this.#deleted, 'deleted', { signal });
  }

  /** @throws BadInput that says what is wrong with it */
  add(given: unknown): ActiveFault {
    this.#added += 1;
    const active = { ...parse(fault, given), id: this.#added, seen: 0, hits: 0 };
    this.#faults.push(active);
    return active;
  }

  clear(): readonly ActiveFault[] {
    this.#deleted.emit('deleted');
    return (this.#faults = []);
  }

  list(): readonly ActiveFault[] {
    return this.#faults;
  }

  /** The fault that acts on this call, at this point of it. */
  take(call: Call, beforeReading: boolean): ActiveFault | undefined {
    const matching = this.#faults.filter((one) => one.beforeReading === beforeReading && matches(one, call));
    for (const one of matching) one.seen += 1;
    const acting = matching.find(({ nth = 1, times = 1, seen, hits }) => {
      return seen >= nth && (times === 'always' || hits < times);
    });
    if (acting !== undefined) acting.hits += 1;
    return acting;
  }
}

function matches(one: Fault, call: Call): boolean {
  return (
    one.operation === call.operation &&
    (one.referenceId === undefined || one.referenceId === call.referenceId) &&
    (one.orderId === undefined || one.orderId === call.orderId)
  );
}
