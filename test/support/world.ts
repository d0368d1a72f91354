import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { type ActivityDependencies, createActivities } from '../../src/activities';
import { purchaseWorkflowId } from '../../src/contracts/names';
import type { PurchaseResult, PurchaseSettings } from '../../src/contracts/purchase';
import { createDelivery, createFingerprinter } from '../../src/delivery';
import { createPartnerClient, type PartnerClient } from '../../src/partner';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox';
import { createStarter, type Starter } from '../../src/starter';
import { createPurchaseReader } from '../../src/temporal/client';
import { type Receiver, startReceiver } from './receiver';
import { FAST } from './settings';

/** A signing secret that nothing outside the suite trusts. */
export const TEST_SIGNING_SECRET = `whsec_${Buffer.from('not-a-secret-not-a-secret-not-a').toString('base64')}`;
export const TEST_FINGERPRINT_SECRET = 'not-a-secret-not-a-secret-not-a-secret';

export interface WorldOptions {
  settings?: Partial<PurchaseSettings>;
  sandbox?: SandboxOptions;
  /** An address other than that of the suite's own dev server. */
  address?: string;
  /** A client of that server, where a plain one does not do (the time-skipping server's moves its clock). */
  client?: Client;
  /** Without a worker, when the test starts real processes. */
  worker?: boolean;
}

/** The whole thing with real parts: the suite's Temporal server, a sandbox, a verifying receiver, a worker in this process. */
export interface World {
  client: Client;
  sandbox: Sandbox;
  receiver: Receiver;
  starter: Starter;
  partner: PartnerClient;
  settings: PurchaseSettings;
  taskQueue: string;
  /** A reference that no other test uses. */
  reference(name?: string): string;
  /** Starts a purchase of the items, such as `{ 'demo-instant': 2 }`. @returns its reference */
  buy(items: Record<string, number>, referenceId?: string): Promise<string>;
  /** Buys and waits for the end. */
  bought(items: Record<string, number>, referenceId?: string): Promise<PurchaseResult>;
  /** The key values that the partner has issued for a reference, and those that the checkout got, both sorted. */
  keys(referenceId: string): Promise<{ issued: string[]; received: string[] }>;
  /** The types of the events that the checkout got for a reference, in their order. */
  eventTypes(referenceId: string): string[];
  /** Waits until the search attribute says so; polls, because nothing announces it. */
  untilState(referenceId: string, state: string): Promise<void>;
  historyLength(referenceId: string): Promise<number>;
  /** Waits for the ends of all. @throws Error that shows where those stand that have none in time */
  ended(references: readonly string[], withinMs: number): Promise<PurchaseResult[]>;
  close(): Promise<void>;
}

/** @throws Error when the suite runs without a Temporal server. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const address = options.address ?? process.env.TEST_TEMPORAL_ADDRESS;
  if (!address)
    throw new Error('there is no Temporal server: run the suite with npm test, or set TEMPORAL_CLI to a CLI');
  const settings = { ...FAST, ...options.settings };
  const taskQueue = `test-${randomUUID()}`;
  const connection = options.client ? undefined : await Connection.connect({ address });
  const client = options.client ?? new Client({ connection });
  // Order ids follow from the seed, and all worlds share one Temporal server: no two purchases may seem to have one order.
  const sandbox = await startSandbox({ seed: taskQueue, ...options.sandbox });
  const receiver = await startReceiver({ secret: TEST_SIGNING_SECRET });
  const partner = partnerOf(sandbox, settings);
  const starter = createStarter(client, { taskQueue });
  const worker =
    options.worker === false ? undefined : await startWorker({ address, taskQueue, settings, partner, receiver });
  let count = 0;

  const world: World = {
    ...{ client, sandbox, receiver, starter, partner, settings, taskQueue },
    reference: (name = 'T') => `${name}-${taskQueue.slice(5, 13)}-${++count}`,
    async buy(items, referenceId = world.reference()) {
      const bought = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
      await starter.purchase({ referenceId, items: bought });
      return referenceId;
    },
    bought: async (items, referenceId) => starter.result(await world.buy(items, referenceId)),
    async keys(referenceId) {
      const issued = (await sandbox.ordersOf(referenceId)).flatMap((order) =>
        order.items.flatMap((item) => item.keys ?? []),
      );
      const received = eventsOf(receiver, referenceId)
        .flatMap(({ data }) => data.lines ?? [])
        .flatMap((line) => line.keys ?? []);
      return {
        issued: issued.map((key) => key.value).toSorted(),
        received: received.map((key) => key.value).toSorted(),
      };
    },
    eventTypes: (referenceId) => eventsOf(receiver, referenceId).map((event) => event.type),
    async untilState(referenceId, state) {
      while ((await starter.status(referenceId)).state !== state)
        await new Promise((resolve) => setTimeout(resolve, 25));
    },
    async historyLength(referenceId) {
      return (await client.workflow.getHandle(purchaseWorkflowId(referenceId)).describe()).historyLength;
    },
    async ended(references, withinMs) {
      const ends = Promise.all(references.map((referenceId) => starter.result(referenceId)));
      const late = new Promise<undefined>((resolve) => setTimeout(resolve, withinMs, undefined).unref());
      const results = await Promise.race([ends, late]);
      if (results) return results;
      const all = await Promise.all(references.map((referenceId) => starter.status(referenceId)));
      const open = all.filter(({ execution }) => execution === 'RUNNING');
      throw new Error(`${open.length} have not ended: ${JSON.stringify(open.slice(0, 3), undefined, 2)}`);
    },
    async close() {
      await worker?.close();
      await Promise.all([sandbox.close(), receiver.close(), partner.close(), connection?.close()]);
    },
  };
  return world;
}

function eventsOf(receiver: Receiver, referenceId: string) {
  return [...receiver.events.values()].filter((event) => event.data.referenceId === referenceId);
}

function partnerOf(sandbox: Sandbox, settings: PurchaseSettings): PartnerClient {
  return createPartnerClient({
    baseUrl: sandbox.url,
    apiKey: () => 'sandbox-key',
    timeoutMs: settings.partnerTimeoutMs,
  });
}

interface WorkerParts {
  address: string;
  namespace?: string;
  taskQueue: string;
  settings: PurchaseSettings;
  partner: PartnerClient;
  receiver: Receiver;
  /** What it does beside purchases, with the same parts. */
  more?: (deps: ActivityDependencies, client: Client) => object;
}

// A suite prints what fails, not what a worker has to say.
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: { core: 'ERROR' } } } });

/** A worker in this process. */
export async function startWorker(parts: WorkerParts) {
  const { address, namespace = 'default', taskQueue, settings, partner, receiver, more } = parts;
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection, namespace });
  const delivery = createDelivery({
    kind: 'webhook',
    url: receiver.url,
    secrets: () => [TEST_SIGNING_SECRET],
    timeoutMs: settings.deliveryTimeoutMs,
  });
  const deps: ActivityDependencies = {
    ...{ partner, delivery, settings },
    fingerprints: createFingerprinter(() => [TEST_FINGERPRINT_SECRET]),
    purchases: createPurchaseReader(client),
    now: Date.now,
  };
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: { code: readFileSync(join(__dirname, '../../dist/workflow-bundle.js'), 'utf8') },
    activities: { ...createActivities(deps), ...more?.(deps, client) },
    shutdownGraceTime: '5s',
    shutdownForceTime: '10s',
  });
  const running = worker.run();
  return {
    async close() {
      worker.shutdown();
      await running;
      await delivery.close();
      await connection.close();
    },
  };
}
