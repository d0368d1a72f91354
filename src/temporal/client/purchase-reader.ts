import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { type EventWithKeys, fingerprintsOf } from '../../contracts/checkout-events';
import { DELIVER_WORKFLOW, deliverWorkflowId, PURCHASE_WORKFLOW, purchaseWorkflowId } from '../../contracts/names';
import { REFERENCE_ID } from '../../contracts/search-attributes';
import {
  type Deliveries,
  readDeliveries,
  readStartInput,
  type Run,
  type SentEvent,
  type UntracedDelivery,
} from './history';
import { OrderOwners } from './order-owners';
import { inState } from './list-filters';
import { type PausedPurchase, pausedPurchases } from './paused-purchases';
import { type WaitingPurchase, waitingPurchases } from './waiting-purchases';

/** A run of a purchase, or of a delivery after its end. */
export interface PurchaseRun extends Run {
  /** RUNNING, COMPLETED, FAILED, TERMINATED, CANCELLED or TIMED_OUT; absent where that is not known. */
  status?: string;
  memo?: Record<string, unknown>;
}

/** An event with keys, once for all runs that sent it. */
export interface KeyEvent extends SentEvent {
  request: EventWithKeys;
  sentBy: { run: PurchaseRun; received: boolean }[];
}

/** What was handed over of a purchase, by whichever run or delivery. */
export interface KeyEvents {
  /** Oldest first. */
  events: KeyEvent[];
  /** What the purchase may have handed over without a trace; only where there are no events. */
  untraced?: UntracedDelivery;
}

export interface KeyEventOptions {
  /** Runs that are known: a list lags, and may not show them yet. Of a delivery all those before it are found, too. */
  also?: readonly PurchaseRun[];
  /** The id of a run that is left out. */
  exceptRunId?: string;
  /** A run that the server no longer keeps counts as one that sent nothing; else it is an error. */
  skipForgotten?: boolean;
}

/** Reads purchases and the deliveries after their end from Temporal. It changes nothing and needs no running worker. */
export interface PurchaseReader {
  /** The server's own record of the latest run of a purchase. @throws WorkflowNotFoundError */
  describe(referenceId: string): Promise<WorkflowExecutionDescription>;
  /** Lists purchases. Lists lag behind. @param query further conditions, in Temporal's list filters */
  list(query: string): AsyncIterable<WorkflowExecutionInfo>;
  /** Lists the purchases of a task queue that have the order history read for them. Lists lag behind. */
  waiting(taskQueue: string): AsyncIterable<WaitingPurchase>;
  /** Lists the purchases of a task queue that the brake holds back. Lists lag behind. */
  paused(taskQueue: string): AsyncIterable<PausedPurchase>;
  /** Lists deliveries after the end of purchases, as `list` does. */
  listDeliveries(query: string): AsyncIterable<WorkflowExecutionInfo>;
  /** The latest delivery of keys after the end of a purchase, as the server itself knows it. */
  latestDelivery(referenceId: string): Promise<PurchaseRun | undefined>;
  /**
   * References of other purchases that name this order as theirs, at most ten: the partner may answer two placements with one id.
   * Empty if the lists can't be read: that is no reason to withhold paid goods, and the reconciliation finds what this misses.
   */
  othersWithOrder(orderId: string, referenceId: string): Promise<string[]>;
  /** Notes that the purchase has this order, because lists show it later. */
  noteOwner(orderId: string, referenceId: string): void;
  /** The argument of a run. @throws WorkflowNotFoundError */
  startInput(run: Run): Promise<unknown>;
  /** Every event that a run sent, oldest first. @throws WorkflowNotFoundError */
  sentEvents(run: Run): Promise<SentEvent[]>;
  /** What a run may have handed over without a trace. @throws WorkflowNotFoundError */
  untracedDelivery(run: Run): Promise<UntracedDelivery | undefined>;
  /**
   * Every event with keys that any run of the purchase, or any delivery after its end, handed to the checkout or tried to.
   *
   * @throws Error when Temporal can't be asked: not knowing what was handed over is no ground to hand it over.
   */
  keyEvents(referenceId: string, options?: KeyEventOptions): Promise<KeyEvents>;
}

/** @param client a client of the namespace of the purchases. */
export function createPurchaseReader(client: Client): PurchaseReader {
  const owners = new OrderOwners(client);
  const list = (type: string, query: string) =>
    client.workflow.list({ query: `WorkflowType = '${type}' AND ${query}` });
  return {
    describe: (referenceId) => client.workflow.getHandle(purchaseWorkflowId(referenceId)).describe(),
    list: (query) => list(PURCHASE_WORKFLOW, query),
    waiting: (taskQueue) => waitingPurchases(list(PURCHASE_WORKFLOW, inState(taskQueue, 'PENDING'))),
    paused: (taskQueue) => pausedPurchases(list(PURCHASE_WORKFLOW, inState(taskQueue, 'PAUSED'))),
    listDeliveries: (query) => list(DELIVER_WORKFLOW, query),
    latestDelivery: (referenceId) => latestDelivery(client, referenceId),
    othersWithOrder: (orderId, referenceId) => owners.others(orderId, referenceId),
    noteOwner: (orderId, referenceId) => owners.note(orderId, referenceId),
    startInput: (run) => readStartInput(client, run),
    sentEvents: async (run) => (await readDeliveries(client, run)).sent,
    untracedDelivery: async (run) => (await readDeliveries(client, run)).untraced,
    keyEvents: (referenceId, options = {}) => readKeyEvents(client, referenceId, options),
  };
}

async function latestDelivery(client: Client, referenceId: string): Promise<PurchaseRun | undefined> {
  try {
    return runOf(await client.workflow.getHandle(deliverWorkflowId({ referenceId })).describe());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

async function readKeyEvents(
  client: Client,
  referenceId: string,
  { also = [], exceptRunId, skipForgotten = false }: KeyEventOptions,
): Promise<KeyEvents> {
  const runs = new Map(also.map((run) => [run.runId, run]));
  const listed = client.workflow.list({ query: `${REFERENCE_ID.name} = '${referenceId}'` });
  for await (const execution of listed) runs.set(execution.runId, runOf(execution));
  const events = new Map<string, KeyEvent>();
  const untraced: UntracedDelivery[] = [];
  // Only named by the delivery that came after them: the server may have forgotten them, as the list has then.
  const named = new Set<string>();
  // Those that are added meanwhile are read as well.
  for (const run of runs.values()) {
    if (run.runId === exceptRunId) continue;
    const deliveries = await deliveriesOf(client, run, skipForgotten || named.has(run.runId));
    const { previousRunId } = deliveries;
    if (previousRunId !== undefined && !runs.has(previousRunId)) {
      named.add(previousRunId);
      runs.set(previousRunId, { workflowId: run.workflowId, runId: previousRunId });
    }
    if (deliveries.untraced) untraced.push(deliveries.untraced);
    for (const { id, request, received } of deliveries.sent) {
      if (!('lines' in request) || fingerprintsOf(request).length === 0) continue;
      const known = events.get(id);
      events.set(id, {
        id,
        // What the checkout has is what counts, should two runs have put it in other words.
        request: known?.received ? known.request : request,
        received: received || known?.received === true,
        sentBy: [...(known?.sentBy ?? []), { run, received }],
      });
    }
  }
  const [earliest] = untraced.toSorted((one, other) => (one.at < other.at ? -1 : 1));
  return {
    events: [...events.values()].toSorted((one, other) => (one.request.at < other.request.at ? -1 : 1)),
    untraced: events.size === 0 ? earliest : undefined,
  };
}

async function deliveriesOf(client: Client, run: Run, skipForgotten: boolean): Promise<Deliveries> {
  try {
    return await readDeliveries(client, run);
  } catch (error) {
    if (skipForgotten && error instanceof WorkflowNotFoundError) return { sent: [] };
    throw error;
  }
}

function runOf({ workflowId, runId, status, memo }: Omit<WorkflowExecutionInfo, 'raw'>): PurchaseRun {
  return { workflowId, runId, status: status.name, memo };
}
