import { EventEmitter, once } from 'node:events';
import { z } from 'zod';
import { integer, orderItems, parse, strictObject, text } from './input';

const OPERATIONS = ['place', 'keys', 'orders', 'products'] as const;

export type Operation = (typeof OPERATIONS)[number];

/** What happens to a call instead of the normal response. */
const faultAction = z.discriminatedUnion('type', [
  /** Sends no response. The connection stays open until either side closes it. */
  strictObject({ type: z.literal('hang') }),
  /** Waits, then continues normally, even if the client has disconnected. */
  strictObject({ type: z.literal('delay'), ms: integer(0) }),
  /** Waits until the faults are deleted, then continues normally. */
  strictObject({ type: z.literal('wait') }),
  /** Resets the connection (RST). */
  strictObject({ type: z.literal('reset') }),
  /** Closes the connection (FIN) without a response. */
  strictObject({ type: z.literal('close') }),
  /** Sends another response. A string `body` is sent unchanged, any other as JSON; the default is an error envelope. */
  strictObject({
    type: z.literal('answer'),
    status: integer(200, 599),
    headers: z.record(z.string(), text).optional(),
    body: z.unknown().optional(),
  }),
  /** Sends the first bytes of the normal response, then closes the connection. */
  strictObject({
    type: z.literal('truncate'),
    bytes: integer(0).optional(),
    framing: z.enum(['content-length', 'chunked', 'none']).optional(),
  }),
  /** Sends status and headers, then one space per interval, forever. */
  strictObject({ type: z.literal('drip'), everyMs: integer(1).optional() }),
  /** Sends `102 Processing` once per interval, forever. */
  strictObject({ type: z.literal('informational'), everyMs: integer(1).optional() }),
  /** Sends status 200 with this text instead of JSON. */
  strictObject({ type: z.literal('body'), text: z.string(), contentType: text.optional() }),
  /** Sends status 200 with `success: false`. */
  strictObject({ type: z.literal('unsuccessful') }),
  /** Sends the normal response with these fields in `details.data`. */
  strictObject({ type: z.literal('merge'), data: z.record(z.string(), z.unknown()) }),
]);

/** What place-order commits instead of the requested order. */
const faultCommit = z.discriminatedUnion('type', [
  /** Commits the order after the response: after `ms`, or after this many pages of the history. */
  strictObject({
    type: z.literal('late'),
    ms: integer(0).optional(),
    historyRequests: integer(1).optional(),
  }),
  /** Commits several orders. The response contains the id of the first. */
  strictObject({ type: z.literal('copies'), count: integer(2, 100) }),
  /** Commits nothing. The response contains the id of the first order with this reference. */
  strictObject({ type: z.literal('same-order-as'), referenceId: text }),
  /** Commits an order of these items. */
  strictObject({ type: z.literal('items'), items: orderItems }),
]);

const fault = strictObject({
  operation: z.enum(OPERATIONS),
  /** The first matching call to act on. Counted from 1; default 1. */
  nth: integer(1).optional(),
  /** The number of calls to act on; default 1. */
  times: z.union([z.literal('always'), integer(1)]).optional(),
  /** Acts only on calls with this reference: in the body of place-order, or as the search text of the history. */
  referenceId: text.optional(),
  /** Acts only on calls about this order: in the path of keys, or as the search text of the history. */
  orderId: text.optional(),
  /** `before` (the default): the call has no effect. `after`: it takes effect, then the fault acts. */
  when: z.enum(['before', 'after']).optional(),
  /** Acts once the headers have arrived, before the body is read. Can't be combined with `referenceId` or `after`. */
  beforeReading: z.boolean().default(false),
  action: faultAction.optional(),
  commit: faultCommit.optional(),
}).superRefine((given, context) => {
  const contradiction = contradictionIn(given);
  if (contradiction !== undefined) context.addIssue(contradiction);
});

export type Fault = z.input<typeof fault>;
export type FaultAction = z.output<typeof faultAction>;
export type FaultCommit = z.output<typeof faultCommit>;

function contradictionIn({ operation, action, commit, when, beforeReading, referenceId }: Fault): string | undefined {
  if (action === undefined && commit === undefined) return 'fault: needs an action or a commit';
  if (commit !== undefined && operation !== 'place') return 'commit: only with operation place';
  if (commit?.type === 'late' && (when === 'after' || action === undefined)) {
    return 'commit late: needs an action, which responds before the commit, and does not work with when after';
  }
  if (commit !== undefined && commit.type !== 'late' && action !== undefined && when !== 'after') {
    return `commit ${commit.type} with an action: needs when after`;
  }
  if (beforeReading === true && (when === 'after' || referenceId !== undefined || commit !== undefined)) {
    return 'beforeReading: does not work with when after, referenceId or commit, because they need the body';
  }
  return action?.type === 'merge' && when !== 'after' ? 'action merge: needs when after' : undefined;
}

/** A fault in the list, with its counts. */
export interface ActiveFault extends Fault {
  id: number;
  /** Number of matching calls. */
  seen: number;
  /** Number of calls it acted on. */
  hits: number;
}

/** The facts about a call that faults match on. */
export interface Call {
  operation: Operation;
  referenceId?: string;
  orderId?: string;
}

/** Faults in the order they were added. The first match acts. */
export class FaultList {
  #faults: ActiveFault[] = [];
  #added = 0;
  #deleted = new EventEmitter().setMaxListeners(0);

  /**
   * Resolves when the faults are deleted.
   *
   * @throws AbortError
   */
  async untilDeleted(signal: AbortSignal): Promise<void> {
    await once(this.#deleted, 'deleted', { signal });
  }

  /** @throws BadInput for an invalid fault */
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

  /** Returns the fault that acts on this call at this point, and counts it. */
  take(call: Call, beforeReading: boolean): ActiveFault | undefined {
    const matching = this.#faults.filter((one) => one.beforeReading === beforeReading && isMatch(one, call));
    for (const one of matching) one.seen += 1;
    const acting = matching.find(({ nth = 1, times = 1, seen, hits }) => {
      return seen >= nth && (times === 'always' || hits < times);
    });
    if (acting !== undefined) acting.hits += 1;
    return acting;
  }
}

function isMatch(one: Fault, call: Call): boolean {
  return (
    one.operation === call.operation &&
    (one.referenceId === undefined || one.referenceId === call.referenceId) &&
    (one.orderId === undefined || one.orderId === call.orderId)
  );
}
