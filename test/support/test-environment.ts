import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, Connection, type WorkflowStartOptions } from '@temporalio/client';
import type { PurchaseSettings } from '../../src/contracts/purchase';
import { PURCHASE_WORKFLOW, purchaseWorkflowId, RECONCILE_WORKFLOW } from '../../src/contracts/names';
import type { ReconcileInput, ReconciliationResult } from '../../src/contracts/reconciliation';
import { createPartnerClient, type PartnerClient } from '../../src/partner';
import { type Fault, type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox';
import { createStarter, type Starter } from '../../src/starter/index';
import { createClient } from '../../src/temporal/client';
import { auditPurchase, changedEvents } from './audit';
import { closeAtEnd } from './clean-up';
import { undocumentedEvents, undocumentedResult } from './documented';
import type { Gate } from './gate';
import { createNamespace } from './namespace';
import { type Receiver, startReceiver } from './receiver';
import { FAST, TEST_SIGNING_SECRET } from './settings';
import { HANGS_AFTER_MS, type WaitLimits, waitUntil } from './wait-until';
import { startWorker } from './worker';

/** The body limit of the partner client, low enough that a test can exceed it. */
export const MAX_BODY_BYTES = 1024 * 1024;

export interface TestEnvironmentOptions {
  /** Overrides of `FAST`. */
  settings?: Partial<PurchaseSettings>;
  sandbox?: SandboxOptions;
  /** The number of earlier orders. Without any, the absence of an order cannot be proved. */
  pastOrders?: number;
  /** The address of a Temporal server other than the suite's dev server. */
  address?: string;
  /** A special client for that server: the client of the time-skipping server advances its clock. */
  client?: Client;
  /** Uses a new namespace, because a reconciliation reads all purchases of a namespace. */
  ownNamespace?: boolean;
  /** false: no worker, because the test starts real processes. */
  worker?: boolean;
  fingerprintSecrets?: () => readonly string[];
  /** The folder for reports of reconciliations. Default: a new folder. */
  reportDir?: string;
  /** The timeout of the partner client, if it differs from the settings. */
  partnerTimeoutMs?: number;
  /** How far ahead the clock of reconciliations is, ms. Default: an hour. */
  reconcilesAheadMs?: number;
  /** A proxy between the worker and the sandbox. */
  partnerGate?: Gate;
  /** Uses the real circuit breaker, which only its own tests do. */
  circuitBreaker?: boolean;
  /** The value of `PARTNER_MAX_RPS`. */
  maxRequestsPerSecond?: number;
}

interface Parts {
  address: string;
  namespace: string;
  client: Client;
  sandbox: Sandbox;
  receiver: Receiver;
  starter: Starter;
  partner: PartnerClient;
  settings: PurchaseSettings;
  taskQueue: string;
}

/** A complete system: the suite's Temporal server, a sandbox, a verifying receiver and a worker in this process. */
export interface TestEnvironment extends Parts, ReturnType<typeof methodsOf> {
  /** Closes everything now, instead of at the end of the test file. */
  close(): Promise<void>;
}

/** @throws Error if the suite runs without a Temporal server. */
export async function startTestEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  const address = options.address ?? process.env.TEST_TEMPORAL_ADDRESS;
  if (!address)
    throw new Error('there is no Temporal server: run the suite with npm test, or set TEMPORAL_CLI to a CLI');
  const settings = { ...FAST, ...options.settings };
  const taskQueue = `test-${randomUUID()}`;
  const closing: (() => unknown)[] = [];
  const close = closeAtEnd(async () => {
    for (const one of closing.toReversed()) await one();
  });

  const client = options.client ?? (await connect(address, options.ownNamespace ? taskQueue : 'default', closing));
  const { namespace } = client.options;
  // Order ids depend on the seed. A purchase is held if another one on the same Temporal server has its order id.
  const sandbox = await startSandbox({ seed: taskQueue, ...options.sandbox });
  if (options.pastOrders) sandbox.addPastOrders({ count: options.pastOrders });
  options.partnerGate?.leadTo(sandbox.port);
  const receiver = await startReceiver({ secret: TEST_SIGNING_SECRET });
  closing.push(() => expectDocumented(undocumentedEvents(receiver.attempts.map(({ body }) => body))));
  // In every test: no event may be repeated with other keys, and no key id with another value.
  closeAtEnd(() => {
    const changed = changedEvents(receiver);
    if (changed.length > 0) throw new Error(`repeated with other keys or with another value: ${changed.join(', ')}`);
  });
  const partner = createPartnerClient({
    baseUrl: options.partnerGate?.url ?? sandbox.url,
    apiKey: () => 'sandbox-key',
    timeoutMs: options.partnerTimeoutMs ?? settings.partnerTimeoutMs,
    maxRequestsPerSecond: options.maxRequestsPerSecond,
    maxBodyBytes: MAX_BODY_BYTES,
  });
  closing.push(sandbox.close, receiver.close, partner.close);
  const starter = createStarter(client, { taskQueue });
  if (options.worker !== false) {
    const { fingerprintSecrets, reportDir, reconcilesAheadMs, circuitBreaker } = options;
    const own = { fingerprintSecrets, reportDir, reconcilesAheadMs, circuitBreaker };
    closing.push(await startWorker({ address, namespace, taskQueue, settings, partner, receiver, ...own }));
  }
  const parts = { address, namespace, client, sandbox, receiver, starter, partner, settings, taskQueue };
  return { ...parts, ...methodsOf(parts), close };
}

/** One environment for all tests of a file or a `describe`, started before the first test. */
export function sharedEnvironment(options: TestEnvironmentOptions = {}): TestEnvironment {
  const env = {} as TestEnvironment;
  beforeAll(async () => void Object.assign(env, await startTestEnvironment(options)));
  return env;
}

async function connect(address: string, namespace: string, closing: (() => unknown)[]): Promise<Client> {
  const connection = await Connection.connect({ address });
  closing.push(() => connection.close());
  if (namespace !== 'default') await createNamespace(connection, namespace);
  return createClient(connection, namespace);
}

/** A fault without its reference. */
export type PurchaseFault = Omit<Fault, 'referenceId'>;
export type OrderChange = Parameters<Sandbox['changeOrder']>[1];

/** Ends a purchase of `demo-never` soon. The last poll at its deadline finds the order open, however slow the machine is. */
const SOON_OVERDUE_MS = 500;

function methodsOf({ client, sandbox, receiver, starter, settings, taskQueue }: Parts) {
  let lastNumber = 0;
  const reference = (name = 'T') => `${name}-${taskQueue.slice(5, 13)}-${++lastNumber}`;
  const buy = async (items: Record<string, number>, referenceId = reference()) => {
    const bought = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
    await starter.purchase({ referenceId, items: bought });
    return referenceId;
  };
  const orderOf = (referenceId: string) =>
    waitUntil(`there is an order of ${referenceId}`, async () => (await sandbox.ordersOf(referenceId))[0]);
  return {
    /** A reference that no other test uses. */
    reference,
    /** Starts a purchase of the items, such as `{ 'demo-instant': 2 }`. @returns its reference */
    buy,
    /** Starts `count` purchases of one `demo-instant` each. */
    buyMany: (count: number) => Promise.all(Array.from({ length: count }, () => buy({ 'demo-instant': 1 }))),
    /** Starts a purchase that meets these faults. @returns its reference */
    buyFacing: (
      faults: PurchaseFault | readonly PurchaseFault[],
      items: Record<string, number> = { 'demo-instant': 1 },
      referenceId = reference(),
    ) => {
      for (const fault of [faults].flat()) sandbox.addFault({ ...fault, referenceId } as Fault);
      return buy(items, referenceId);
    },
    /** Starts the workflow of a purchase directly, as any Temporal client can. */
    startRaw: (referenceId: string, options: Partial<WorkflowStartOptions> = {}) =>
      client.workflow.start(PURCHASE_WORKFLOW, { workflowId: purchaseWorkflowId(referenceId), taskQueue, ...options }),
    /** Buys and waits until the purchase knows its order. */
    async opened(items: Record<string, number>, ownReference?: string) {
      const referenceId = await buy(items, ownReference);
      const known = async () => (await starter.status(referenceId)).orderId;
      return { referenceId, orderId: await waitUntil('the order is placed', known) };
    },
    /** The workflow of a purchase. */
    handleOf: (referenceId: string) => client.workflow.getHandle(purchaseWorkflowId(referenceId)),
    /** Waits for the order of a purchase at the partner. */
    orderOf,
    /** Changes the order of a purchase, as the partner's staff could. */
    async changeOrder(referenceId: string, change: OrderChange) {
      await sandbox.changeOrder((await orderOf(referenceId)).id, change);
    },
    /** Places an order that belongs to no purchase. */
    orderByHand: (items: Record<string, number>, referenceId: string) =>
      sandbox.placeManualOrder({
        referenceId,
        items: Object.entries(items).map(([id, quantity]) => ({ id, quantity })),
      }),
    /** Waits until the partner has read `times` place-order requests of a purchase. */
    untilSent: (referenceId: string, times = 1) =>
      waitUntil(`${referenceId} is sent`, () => sandbox.placeRequestsOf(referenceId) >= times),
    /** Buys and waits for the end. */
    bought: async (items: Record<string, number>, referenceId?: string) => {
      const result = await starter.result(await buy(items, referenceId));
      expectDocumented(undocumentedResult(result));
      return result;
    },
    /**
     * Buys what stays open and waits until the purchase is overdue. Only this purchase has the short deadline, so no
     * other one may start meanwhile.
     */
    async overdue(items: Record<string, number> = { 'demo-never': 1 }, ownReference?: string) {
      const { deadlineMs } = settings;
      settings.deadlineMs = SOON_OVERDUE_MS;
      try {
        const result = await starter.result(await buy(items, ownReference));
        if (result.outcome !== 'OVERDUE') throw new Error(`it is not overdue: ${JSON.stringify(result)}`);
        return { referenceId: result.referenceId, orderId: result.orderId! };
      } finally {
        settings.deadlineMs = deadlineMs;
      }
    },
    /** The partner's and the checkout's records of a purchase. */
    audit: (referenceId: string) => auditPurchase({ sandbox, receiver }, referenceId),
    /** The types of the events that the checkout received for a reference, in order. */
    eventTypes: (referenceId: string) => receiver.eventsOf(referenceId).map(({ type }) => type),
    /** Waits for a state. @throws Error with its status if the purchase ends in another state, or is too late */
    async untilState(referenceId: string, state: string, limits?: WaitLimits) {
      let status: Awaited<ReturnType<typeof starter.status>>;
      const isSo = async () => {
        status = await starter.status(referenceId);
        return status.state === state || status.workflowStatus !== 'RUNNING';
      };
      await waitUntil(() => `${referenceId} is ${state}: ${JSON.stringify(status)}`, isSo, limits);
      if (status!.state !== state) throw new Error(`${referenceId} is not ${state}: ${JSON.stringify(status!)}`);
    },
    /** Waits until all purchases have ended. @throws Error with the status of those that have not ended in time */
    async ended(references: readonly string[]) {
      const results = Promise.all(references.map((referenceId) => starter.result(referenceId)));
      const inTime = await Promise.race([results, sleep(HANGS_AFTER_MS, undefined, { ref: false })]);
      if (inTime) {
        expectDocumented(inTime.flatMap(undocumentedResult));
        return inTime;
      }
      const all = await Promise.all(references.map((referenceId) => starter.status(referenceId)));
      const open = all.filter(({ workflowStatus }) => workflowStatus === 'RUNNING');
      throw new Error(`${open.length} have not ended: ${JSON.stringify(open.slice(0, 3), undefined, 2)}`);
    },
    /** Runs a reconciliation to its end. */
    reconcile: (input: ReconcileInput = {}) =>
      client.workflow.execute(RECONCILE_WORKFLOW, {
        workflowId: `reconcile-${randomUUID()}`,
        taskQueue,
        args: [input],
      }) as Promise<ReconciliationResult>,
    /** Waits until Temporal lists at least `count` workflows for a query. */
    async untilListed(query: string, count: number) {
      const isListed = async () => (await client.workflow.count(query)).count >= count;
      await waitUntil(`${count} are listed where ${query}`, isListed);
    },
  };
}

/** @throws Error if a message did not match docs/schemas */
function expectDocumented(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`does not match docs/schemas: ${[...new Set(faults)].join('; ')}`);
}

/** An environment of its own namespace. No purchase is placed again, and only `overdue` makes one overdue. */
export function startReconciliationEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  return startTestEnvironment({
    ...options,
    ownNamespace: true,
    settings: { partnerTimeoutMs: 5_000, replace: 'never', ...options.settings },
    sandbox: { balance: 10_000_000, ...options.sandbox },
  });
}
