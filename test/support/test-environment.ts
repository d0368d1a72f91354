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
import { type WaitLimits, waitUntil } from './wait-until';
import { startWorker } from './worker';

/** Of the partner client: an order beyond it is small enough for a test. */
export const MAX_BODY_BYTES = 1024 * 1024;

export interface TestEnvironmentOptions {
  /** Where they differ from `FAST`. */
  settings?: Partial<PurchaseSettings>;
  sandbox?: SandboxOptions;
  /** So many orders were made before, without which no order can be shown to be absent. */
  pastOrders?: number;
  /** An address other than that of the suite's own dev server. */
  address?: string;
  /** A client of that server, where a plain one does not do (the time-skipping server's moves its clock). */
  client?: Client;
  /** A new namespace: a reconciliation reads all purchases of its own. */
  ownNamespace?: boolean;
  /** Without a worker, when the test starts real processes. */
  worker?: boolean;
  fingerprintSecrets?: () => readonly string[];
  /** Where reconciliations write their reports. Default: a new folder. */
  reportDir?: string;
  /** Of the partner client, where it is not that of the settings. */
  partnerTimeoutMs?: number;
  /** How far ahead the clock of reconciliations is. Default an hour. */
  reconcilesAheadMs?: number;
  /** What stands between the worker and the sandbox. */
  partnerGate?: Gate;
  /** With the circuit breaker, which is left out of all tests that are not about it. */
  circuitBreaker?: boolean;
  /** As `PARTNER_MAX_RPS`. */
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

/** The whole with real parts: the suite's Temporal server, a sandbox, a verifying receiver, a worker in this process. */
export interface TestEnvironment extends Parts, ReturnType<typeof methodsOf> {
  /** Closes everything now; else it is closed at the end of the test file. */
  close(): Promise<void>;
}

/** @throws Error when the suite runs without a Temporal server. */
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
  // Order ids follow from the seed, and an order that two purchases of one Temporal server name is held.
  const sandbox = await startSandbox({ seed: taskQueue, ...options.sandbox });
  if (options.pastOrders) sandbox.addPastOrders({ count: options.pastOrders });
  options.partnerGate?.leadTo(sandbox.port);
  const receiver = await startReceiver({ secret: TEST_SIGNING_SECRET });
  closing.push(() => expectDocumented(undocumentedEvents(receiver.attempts.map(({ body }) => body))));
  // Whatever the tests did: no event came again with other keys under its id, and no key with another value.
  closeAtEnd(() => {
    const changed = changedEvents(receiver);
    if (changed.length > 0) throw new Error(`came again with other keys, or with another value: ${changed.join(', ')}`);
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

/** One environment for all tests of a file or of a `describe`: started before the first of them, and usable from then on. */
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

/** A fault without the reference that it is narrowed down to. */
export type PurchaseFault = Omit<Fault, 'referenceId'>;
export type OrderChange = Parameters<Sandbox['changeOrder']>[1];

function methodsOf({ client, sandbox, receiver, starter, taskQueue }: Parts) {
  let count = 0;
  const reference = (name = 'T') => `${name}-${taskQueue.slice(5, 13)}-${++count}`;
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
    /** Starts so many purchases of one `demo-instant`. */
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
    /** Starts the workflow of a purchase as any client of Temporal can. */
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
    /** What the partner's people do to it. */
    async changeOrder(referenceId: string, change: OrderChange) {
      await sandbox.changeOrder((await orderOf(referenceId)).id, change);
    },
    /** An order of the items that no purchase has placed. */
    orderByHand: (items: Record<string, number>, referenceId: string) =>
      sandbox.placeManualOrder({
        referenceId,
        items: Object.entries(items).map(([id, quantity]) => ({ id, quantity })),
      }),
    /** Waits until the partner has read so many place-order requests of a purchase. */
    untilSent: (referenceId: string, times = 1) =>
      waitUntil(`${referenceId} is sent`, () => sandbox.placeRequestsOf(referenceId) === times),
    /** Buys and waits for the end. */
    bought: async (items: Record<string, number>, referenceId?: string) => {
      const result = await starter.result(await buy(items, referenceId));
      expectDocumented(undocumentedResult(result));
      return result;
    },
    /** What the partner and the checkout have of a purchase. */
    audit: (referenceId: string) => auditPurchase({ sandbox, receiver }, referenceId),
    /** The types of the events that the checkout got for a reference, in their order. */
    eventTypes: (referenceId: string) => receiver.eventsOf(referenceId).map(({ type }) => type),
    async untilState(referenceId: string, state: string, limits?: WaitLimits) {
      const isSo = async () => (await starter.status(referenceId)).state === state;
      await waitUntil(`${referenceId} is ${state}`, isSo, limits);
    },
    /** Waits for the ends of all. @throws Error that shows where those stand that have none in time */
    async ended(references: readonly string[], withinMs: number) {
      const results = Promise.all(references.map((referenceId) => starter.result(referenceId)));
      const inTime = await Promise.race([results, sleep(withinMs, undefined, { ref: false })]);
      if (inTime) {
        expectDocumented(inTime.flatMap(undocumentedResult));
        return inTime;
      }
      const all = await Promise.all(references.map((referenceId) => starter.status(referenceId)));
      const open = all.filter(({ execution }) => execution === 'RUNNING');
      throw new Error(`${open.length} have not ended: ${JSON.stringify(open.slice(0, 3), undefined, 2)}`);
    },
    /** Runs a reconciliation to its end. */
    reconcile: (input: ReconcileInput = {}) =>
      client.workflow.execute(RECONCILE_WORKFLOW, {
        workflowId: `reconcile-${randomUUID()}`,
        taskQueue,
        args: [input],
      }) as Promise<ReconciliationResult>,
    /** Waits until Temporal's list shows so many workflows of a query. */
    async untilListed(query: string, count: number) {
      const isListed = async () => (await client.workflow.count(query)).count >= count;
      await waitUntil(`${count} are listed where ${query}`, isListed);
    },
  };
}

/** @throws Error where something went out that docs/schemas does not know */
function expectDocumented(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`not as docs/schemas has it: ${[...new Set(faults)].join('; ')}`);
}

/** Its purchases are soon overdue and never placed again. */
export function startReconciliationEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  return startTestEnvironment({
    ...options,
    ownNamespace: true,
    settings: { deadlineMs: 1_500, replace: 'never', ...options.settings },
    sandbox: { balance: 10_000_000, ...options.sandbox },
  });
}
