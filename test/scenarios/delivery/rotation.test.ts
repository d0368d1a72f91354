import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createActivities } from '../../../src/activities/index';
import { createDelivery, createFingerprinter } from '../../../src/delivery/index';
import { createPurchaseReader } from '../../../src/temporal/client';
import { handsOn, judge, until } from '../operators/hands';
import { startWorld, TEST_FINGERPRINT_SECRET, TEST_SIGNING_SECRET, type World } from '../../support/world';

const NEWER = 'a-newer-secret-that-is-none-a-newer-secret';

describe('the secret of the fingerprints is rotated between the look and the delivery', () => {
  let world: World;
  let stop: () => Promise<void>;
  let secrets: string[];
  const silent = new Set<string>();

  beforeAll(async () => {
    world = await startWorld({ worker: false });
    world.receiver.answerWith(({ body }) => (silent.has(body.data.referenceId) ? 503 : 204));
    stop = await startWorkerWith(world, () => secrets);
  });
  afterAll(async () => {
    await stop?.();
    await world.close();
  });
  beforeEach(() => {
    secrets = [TEST_FINGERPRINT_SECRET];
  });

  async function seenAndNotDelivered() {
    const referenceId = world.reference();
    silent.add(referenceId);
    await world.buy({ 'demo-instant': 2 }, referenceId);
    const hands = handsOn(world, referenceId);
    await hands.pending('deliverEvent', 2);
    const [attempt] = world.receiver.attempts.filter(({ body }) => body.data.referenceId === referenceId);
    return { referenceId, hands, id: attempt!.id };
  }

  async function deliveredAs(id: string, referenceId: string) {
    expect(await handsOn(world, referenceId).result()).toMatchObject({ outcome: 'DELIVERED' });
    const { issued, received } = await judge(world, referenceId);
    expect(received).toEqual(issued);
    const ids = world.receiver.attempts
      .filter(({ body }) => body.data.referenceId === referenceId)
      .map((one) => one.id);
    expect(new Set(ids)).toEqual(new Set([id]));
  }

  it('delivers the same event under the same id while the older secret is still there', async () => {
    const { referenceId, id } = await seenAndNotDelivered();

    secrets = [NEWER, TEST_FINGERPRINT_SECRET];
    silent.delete(referenceId);

    await deliveredAs(id, referenceId);
  });

  it('waits for the older secret when it is gone: the event is neither lost, nor held as if its keys were', async () => {
    const { referenceId, hands, id } = await seenAndNotDelivered();

    secrets = [NEWER];
    silent.delete(referenceId);
    const waiting = await until(async () => {
      const pending = await hands.pending('deliverEvent', 3);
      return pending.lastFailure?.includes('put the older secret back') && pending;
    });
    expect(waiting.attempt).toBeGreaterThan(2);
    expect(world.eventTypes(referenceId)).toEqual([]);

    secrets = [NEWER, TEST_FINGERPRINT_SECRET];
    await deliveredAs(id, referenceId);
  });

  it('keeps the names of what went out: a reset after the rotation makes no second event of the same keys', async () => {
    const { referenceId, hands, id } = await seenAndNotDelivered();
    silent.delete(referenceId);
    await hands.result();
    const [first] = await hands.points();

    secrets = [NEWER, TEST_FINGERPRINT_SECRET];
    await hands.reset(first!);

    await deliveredAs(id, referenceId);
  });
});

async function startWorkerWith(world: World, secrets: () => readonly string[]): Promise<() => Promise<void>> {
  const { settings, partner, receiver, taskQueue } = world;
  const connection = await NativeConnection.connect({ address: process.env.TEST_TEMPORAL_ADDRESS! });
  const delivery = createDelivery({
    ...{ kind: 'webhook', url: receiver.url, timeoutMs: settings.deliveryTimeoutMs },
    secrets: () => [TEST_SIGNING_SECRET],
  });
  const worker = await Worker.create({
    ...{ connection, taskQueue },
    workflowBundle: { code: readFileSync(join(__dirname, '../../../dist/workflow-bundle.js'), 'utf8') },
    activities: createActivities({
      ...{ partner, delivery, settings, now: Date.now },
      fingerprints: createFingerprinter(secrets),
      purchases: createPurchaseReader(new Client({ connection })),
    }),
  });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
    await delivery.close();
    await connection.close();
  };
}
