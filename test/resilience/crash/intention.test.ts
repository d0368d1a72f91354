import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import { placing, searching, faulty, type FaultyEnvironment } from '../support/crash-points';
import { type Bought, recover, referencesOf, startAll, untilReached, untilSettled } from '../support/kill';
import { auditAll, NO_FLAWS } from '../../support/audit';
import { temporaryFolder } from '../../support/clean-up';
import { eventsOf } from '../../support/history';
import { type Operator, operatorOf } from '../../support/operator';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { sharedEnvironment, startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/** Long enough that a request is read, gets no response, and its worker is killed after a heartbeat. */
const SLOW = { partnerTimeoutMs: 8_000, confirmWindowMs: 2_000 };
const UNANSWERED = placing('hangs', 'before', { action: { type: 'hang' }, times: 'always' });

describe('a placement whose worker dies', () => {
  const start = async (replace: 'never' | 'answered' | 'always', pastOrders = 0) =>
    faulty(await startTestEnvironment({ worker: false, pastOrders, settings: { ...SLOW, replace } }));

  const workerFor = (environment: TestEnvironment, nodeArgs: string[] = []) =>
    startReadyWorker({ env: workerEnvOf(environment), nodeArgs });

  it.concurrent.each([
    ['answered', [], 1],
    ['never', ['HELD'], 0],
  ] as const)(
    'before it has recorded its intention is placed again without a hold, even with an empty history, except with replace=never (%s)',
    async (replace, undelivered, requests) => {
      const environment = await start(replace);
      const victim = await workerFor(environment);
      const bought = await startAll(environment, [searching('hangs', { type: 'hang' })]);
      await untilReached(bought);
      await victim.end('SIGKILL');
      await workerFor(environment);

      const ends = await recover(environment, bought);
      expect(ends.map((line) => line.split(': ').at(-1))).toEqual(undelivered);
      const [referenceId] = referencesOf(bought);
      expect(environment.sandbox.placeRequestsOf(referenceId!)).toBe(requests);
      if (replace === 'answered') expect(await auditAll(environment, [referenceId!])).toEqual(NO_FLAWS);
    },
  );

  it.concurrent(
    'between the record and the write is held, because the partner may have received the order',
    async () => {
      const environment = await start('answered', 5);
      const victim = await workerFor(environment, ['--require', killedAtTheWrite()]);
      const bought = await startAll(environment, [UNANSWERED]);
      expect((await victim.ended).signal).toBe('SIGKILL');
      await workerFor(environment);

      await expectHeld(environment, bought, 0);
    },
  );

  it.concurrent(
    'after the write and after heartbeats that keep the record, is held and never placed again',
    async () => {
      const environment = await start('answered', 5);
      const victim = await workerFor(environment);
      const bought = await startAll(environment, [UNANSWERED]);
      const [referenceId = ''] = referencesOf(bought);
      const recordedAt = await waitUntil('the intention is on record', () => lastBeat(environment, referenceId));
      await waitUntil('it beats', async () => ((await lastBeat(environment, referenceId)) ?? 0) > recordedAt);
      await victim.end('SIGKILL');
      await workerFor(environment);

      await expectHeld(environment, bought, 1);
    },
  );

  it.concurrent(
    'does not count as unsent in a run that was reset while it was pending, because the record is gone',
    async () => {
      // With `answered`, the next attempt is fenced and then held, whatever this one counts as.
      const environment = await start('never', 5);
      const victim = await workerFor(environment);
      const bought = await startAll(environment, [UNANSWERED]);
      await untilReached(bought);
      const [referenceId = ''] = referencesOf(bought);
      const operator = operatorOf(environment, referenceId);
      // A refused decision makes a workflow task after the one that has scheduled the placement.
      await operator.resolve('abandon', { holdId: 'none' }).catch(() => undefined);
      await victim.end('SIGKILL');
      await operator.reset((await operator.points()).at(-1)!);
      await takeAndDie(environment);
      await workerFor(environment);

      await expectHeld(environment, bought, 1);
      const { explanation } = await operator.held('PLACEMENT_UNKNOWN');
      expect(explanation).toBe('the worker stopped or the attempt timed out, and the order history shows no order');
    },
  );

  async function expectHeld(environment: FaultyEnvironment, [one]: readonly Bought[], requests: number) {
    const { referenceId } = one!;
    expect(await untilSettled(environment, [referenceId])).toEqual(new Map([[referenceId, 'HELD']]));
    expect(environment.sandbox.placeRequestsOf(referenceId)).toBe(requests);
  }
});

describe('a placement whose intention the server refuses to record', () => {
  const env = sharedEnvironment({ pastOrders: 5, settings: SLOW });

  it.concurrent.each<[string, (operator: Operator) => Promise<void>, string, number, string?]>([
    ['was paused', (operator) => operator.pause('placeOrder'), 'DELIVERED', 1, 'the attempt was paused'],
    ['was reset', (operator) => operator.resetActivity('placeOrder'), 'DELIVERED', 1, 'the attempt was reset'],
    ['has ended for the server', (operator) => operator.fail('placeOrder'), 'HELD', 0],
  ])('because its activity %s while it searched, sends no order', async (_, operate, end, requests, reason) => {
    const referenceId = env.reference();
    const searched = env.sandbox.addFault({ operation: 'orders', referenceId, action: { type: 'delay', ms: 4_000 } });
    await env.buy({ 'demo-instant': 2 }, referenceId);
    await waitUntil('it searches', () => searched.hits > 0);
    await operate(operatorOf(env, referenceId));

    expect(await untilSettled(env, [referenceId])).toEqual(new Map([[referenceId, end]]));
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(requests);
    const [first] = await placementResults(env, referenceId);
    expect(first).toEqual(
      reason && { evidence: 'NOT_SENT', isOnlyExecution: true, reason: expect.stringContaining(reason) },
    );
  });
});

it('a late response after a long search is accepted, because the attempt sends heartbeats while it waits', async () => {
  // The SDK ends an attempt without heartbeats 5 s after its heartbeat timeout: after 22 s.
  const env = await startTestEnvironment({ settings: { ...SLOW, partnerTimeoutMs: 15_000 } });
  const referenceId = env.reference();
  env.sandbox.addFault({ operation: 'orders', referenceId, action: { type: 'delay', ms: 11_000 } });
  env.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'delay', ms: 13_000 } });
  expect(await env.bought({ 'demo-instant': 2 }, referenceId)).toMatchObject({ outcome: 'DELIVERED' });
  expect(await placementResults(env, referenceId)).toMatchObject([{ evidence: 'PLACED' }]);
});

/**
 * A script for `node --require` that kills its process when the connection of a POST is open and nothing is written.
 */
function killedAtTheWrite(): string {
  const path = join(temporaryFolder(), 'killed-at-the-write.js');
  const lines = [
    "const { subscribe } = require('node:diagnostics_channel');",
    'let posting = false;',
    "subscribe('undici:request:create', ({ request }) => (posting ||= request.method === 'POST'));",
    "subscribe('undici:client:connected', () => posting && process.kill(process.pid, 'SIGKILL'));",
  ];
  writeFileSync(path, lines.join('\n'));
  return path;
}

/** When the server received the last heartbeat of the pending placement, epoch s. The first one is the record. */
async function lastBeat({ client }: TestEnvironment, referenceId: string): Promise<number | undefined> {
  const { raw } = await client.workflow.getHandle(purchaseWorkflowId(referenceId)).describe();
  const placement = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'placeOrder');
  if (!placement?.lastHeartbeatTime) return undefined;
  const { seconds, nanos } = placement.lastHeartbeatTime;
  return Number(seconds) + Number(nanos) / 1e9;
}

/** Takes an activity task like a worker that dies with it. */
async function takeAndDie({ client, taskQueue: name }: TestEnvironment): Promise<void> {
  const { workflowService, options } = client;
  const { namespace } = options;
  const task = await client.withDeadline(Date.now() + 60_000, () =>
    workflowService.pollActivityTaskQueue({ namespace, taskQueue: { name }, identity: 'it dies' }),
  );
  expect(task.activityType?.name).toBe('placeOrder');
}

/** The results of the placement activities of a purchase. */
async function placementResults(env: TestEnvironment, referenceId: string): Promise<unknown[]> {
  const results = (await eventsOf(env, purchaseWorkflowId(referenceId))).flatMap((event) => {
    const [payload] = event.activityTaskCompletedEventAttributes?.result?.payloads ?? [];
    return payload ? [JSON.parse(Buffer.from(payload.data!).toString('utf8')) as unknown] : [];
  });
  return results.filter((result) => result !== null && typeof result === 'object' && 'evidence' in result);
}
