import type { BrakeState, ClosedBrake } from '../../../src/contracts/brake';
import {
  BRAKE_WORKFLOW,
  brakeWorkflowId,
  purchaseWorkflowId,
  REPORT_PLACEMENTS_SIGNAL,
} from '../../../src/contracts/names';
import { BRAKE_HISTORY } from '../../../src/workflows/policies';
import { brakeHandle, brakeOf, buyMany, purchasingEvents, startIdleBrake, untilClosed } from '../../support/brake';
import { expectDeliveredOnce, rejectionOf } from '../../support/checks';
import { operatorOf } from '../../support/operator';
import { HOUR } from '../../support/settings';
import {
  startTestEnvironment,
  type TestEnvironment,
  type TestEnvironmentOptions,
} from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { LENIENT, searchesFor } from './run-purchase';
import { changedEvents } from '../../support/audit';

jest.setTimeout(180_000);

const PROBE_PAUSE_MS = 100;
/** Its pauses are made of the settling time: a probe each 100 ms, and 300 ms until the first purchase is let through. */
const BRAKED: TestEnvironmentOptions = { brake: true, pastOrders: 5, settings: { ...LENIENT, confirmWindowMs: 600 } };

it.concurrent(
  'a balance that is gone costs two sales and one for each growing pause, and not those of a night',
  async () => {
    const env = await startTestEnvironment(BRAKED);
    await env.bought({ 'demo-instant': 1 });
    expect(await rejectionOf(brakeHandle(env).describe())).toMatchObject({ name: 'WorkflowNotFoundError' });

    const fault = env.sandbox.addFault({
      operation: 'place',
      times: 'always',
      action: { type: 'answer', status: 402 },
    });
    const rejected = await buyMany(env, 2);
    for (const { outcome } of await env.ended(rejected, 150_000)) expect(outcome).toBe('REJECTED');
    await untilClosed(env);
    const waiting = await buyMany(env, 20);
    await waitUntil('two more were let through, one after the other', () => fault.hits >= 4);
    expect((await brakeOf(env)).closed).toMatchObject({ reason: 'NO_BALANCE' });
    env.sandbox.clearFaults();

    const outcomes = (await env.ended(waiting, 150_000)).map(({ outcome }) => outcome);
    const lost = outcomes.filter((outcome) => outcome === 'REJECTED').length;
    expect(lost).toBe(fault.hits - 2);
    expect(lost).toBeLessThan(6);
    expect(outcomes.filter((outcome) => outcome === 'DELIVERED')).toHaveLength(20 - lost);
    await waitUntil('the brake has ended', async () => !(await brakeOf(env)).running);
    expect(purchasingEvents(env)).toEqual(['purchasing.paused', 'purchasing.resumed']);
  },
);

it.concurrent(
  'what an earlier request bought late is found before a purchase that waits ends without an order',
  async () => {
    const env = await startTestEnvironment({ ...BRAKED, settings: { ...BRAKED.settings, confirmWindowMs: 3_000 } });
    const fault = env.sandbox.addFault({ operation: 'place', action: { type: 'answer', status: 500 } });
    const referenceId = await env.buy({ 'demo-instant': 1 });
    await waitUntil('its request was answered', () => fault.hits === 1);
    await startIdleBrake(env, closedFor('NO_BALANCE'));
    await env.untilState(referenceId, 'PAUSED');
    await env.sandbox.placeManualOrder({ referenceId, items: [{ id: 'demo-instant', quantity: 1 }] });

    await env.client.workflow.getHandle(`purchase-${referenceId}`).cancel();

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED', cancelRequested: true });
    await expectDeliveredOnce(env, referenceId, 1);
  },
);

it.concurrent(
  'requests without an answer: held are those that were written, every other one is bought once',
  async () => {
    const env = await startTestEnvironment(BRAKED);
    env.sandbox.addFault({ operation: 'place', times: 'always', action: { type: 'reset' } });
    const references = await buyMany(env, 5);
    await untilClosed(env);
    references.push(...(await buyMany(env, 25)));
    for (const referenceId of references.slice(6, 9)) await env.untilState(referenceId, 'PAUSED');
    env.sandbox.clearFaults();

    const states = await endsOf(env, references);
    expect(states.get('HELD')).toBeLessThan(15);
    expect((states.get('HELD') ?? 0) + (states.get('DELIVERED') ?? 0)).toBe(30);
    for (const referenceId of references) expect(env.sandbox.placeRequestsOf(referenceId)).toBe(1);
    expect(changedEvents(env.receiver)).toEqual([]);
  },
);

it.concurrent('a partner that refuses us is asked by the brake alone, until a read of one row succeeds', async () => {
  const env = await startTestEnvironment(BRAKED);
  env.sandbox.settings({ apiKeys: ['rotated'] });
  const references = await buyMany(env, 12);
  await untilClosed(env);
  for (const referenceId of references) await env.untilState(referenceId, 'PAUSED');
  const [cancelled = '', ...others] = references;
  const searches = () => references.reduce((all, referenceId) => all + searchesFor(env, referenceId), 0);
  const probes = () => env.sandbox.log().filter(({ path }) => path.endsWith('limit=1')).length;
  const [searched, probed] = [searches(), probes()];
  await waitUntil('it was probed twice more', () => probes() >= probed + 2);
  expect(searches()).toBe(searched);
  await operatorOf(env, cancelled).cancel();
  expect(await env.starter.result(cancelled)).toMatchObject({ outcome: 'CANCELLED' });
  env.sandbox.settings({ apiKeys: ['sandbox-key'] });

  for (const { outcome } of await env.ended(others, 150_000)) expect(outcome).toBe('DELIVERED');
  for (const referenceId of others) expect(env.sandbox.placeRequestsOf(referenceId)).toBe(1);
  expect(env.sandbox.placeRequestsOf(cancelled)).toBe(0);
});

it.concurrent('a purchase that waits ends NOT_PLACED when its time is over; a brake that is gone is open', async () => {
  const env = await startTestEnvironment({ ...BRAKED, settings: { ...BRAKED.settings, placeWithinMs: 5_000 } });
  env.sandbox.settings({ apiKeys: ['rotated'] });
  await buyMany(env, 5);
  await untilClosed(env);
  const unplaced = await env.buy({ 'demo-instant': 1 });
  const reason = expect.stringContaining('new placements wait') as string;
  expect(await env.starter.result(unplaced)).toMatchObject({ outcome: 'NOT_PLACED', reason });
  expect((await brakeOf(env)).closed).toBeDefined();

  await brakeHandle(env).terminate();
  env.sandbox.settings({ apiKeys: ['sandbox-key'] });
  expect(await env.bought({ 'demo-instant': 1 })).toMatchObject({ outcome: 'DELIVERED' });
});

// These run after the others, one by one: all at once would slow down what is in those a matter of seconds.
it('a partner that refuses all orders closes it; one that takes an order again opens it', async () => {
  const env = await startTestEnvironment(BRAKED);
  const action = { type: 'answer', status: 400 } as const;
  const fault = env.sandbox.addFault({ operation: 'place', times: 'always', action });
  for (const { outcome } of await env.ended(await buyMany(env, 10), 150_000)) expect(outcome).toBe('REJECTED');
  await untilClosed(env);
  const waiting = await buyMany(env, 5);
  await waitUntil('one more was let through', () => fault.hits > 10);
  expect((await brakeOf(env)).closed).toMatchObject({ reason: 'REFUSED' });
  env.sandbox.clearFaults();

  const outcomes = (await env.ended(waiting, 150_000)).map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome === 'DELIVERED')).toHaveLength(15 - fault.hits);
});

it('who shows nothing costs no pause, and who has failed already comes last', async () => {
  const env = await startTestEnvironment(BRAKED);
  env.sandbox.settings({ apiKeys: ['rotated'] });
  const healthy = env.reference('healthy');
  const dear = Array.from({ length: 3 }, () => env.reference('dear'));
  const sick = Array.from({ length: 2 }, () => env.reference('sick'));
  await startBrake(env, { row: [], closed: closedFor('UNKNOWN'), closures: 1, failures: 0, tried: sick, notices: [] });
  await untilClosed(env);
  for (const referenceId of [healthy, ...dear, ...sick]) {
    const maxDebit = dear.includes(referenceId) ? 1 : undefined;
    await env.starter.purchase({ referenceId, items: [{ productId: 'demo-instant', quantity: 1 }], maxDebit });
  }
  for (const referenceId of [healthy, ...dear, ...sick]) await env.untilState(referenceId, 'PAUSED');
  await env.untilListed(`TaskQueue="${env.taskQueue}" AND PurchaseState="PAUSED"`, 6);
  env.sandbox.settings({ apiKeys: ['sandbox-key'] });

  expect(await env.starter.result(healthy)).toMatchObject({ outcome: 'DELIVERED' });
  const { events } = await brakeHandle(env).fetchHistory();
  const steps = (events ?? []).flatMap(
    ({ signalExternalWorkflowExecutionInitiatedEventAttributes: signal, ...event }) => {
      const pause = Number(event.timerStartedEventAttributes?.startToFireTimeout?.nanos ?? 0) / 1e6;
      return signal ? [signal.workflowExecution?.workflowId] : pause === PROBE_PAUSE_MS ? ['pause'] : [];
    },
  );
  const letThrough = [...dear.toReversed(), healthy].map((referenceId) => purchaseWorkflowId(referenceId));
  expect(steps.slice(-5)).toEqual(['pause', ...letThrough]);
});

it('a closed brake that continues as new is closed at once, and has nothing forgotten', async () => {
  // Nobody waits for it, so that with the other tests' settling time a busy machine would see it open after 18 s.
  const env = await startTestEnvironment({ ...BRAKED, settings: { ...BRAKED.settings, confirmWindowMs: 3_000 } });
  const closed = closedFor('NO_BALANCE');
  const notice = {
    type: 'purchasing.paused',
    at: new Date().toISOString(),
    kind: 'NO_BALANCE',
    reason: 'none',
    details: {},
    deduplicationKey: 'before',
  } as const;
  const state: BrakeState = { row: [], closed, closures: 1, failures: 0, tried: [], notices: [notice], waking: true };
  const { firstExecutionRunId } = await startBrake(env, state);
  await waitUntil('what the run before has left is done', () => purchasingEvents(env).length === 1);
  const nextRun = await continuedAsNew(env, firstExecutionRunId);

  const { events } = await env.client.workflow.getHandle(brakeWorkflowId(env.taskQueue), nextRun).fetchHistory();
  const memo = events?.[0]?.workflowExecutionStartedEventAttributes?.memo?.fields?.brake?.data;
  expect(JSON.parse(Buffer.from(memo ?? []).toString())).toMatchObject({ reason: 'NO_BALANCE' });
});

it('an open brake that continues as new is open, though its run began closed', async () => {
  // With the other tests' settling time it would end on a busy machine, after 6 s in which nothing is reported.
  const env = await startTestEnvironment({ ...BRAKED, settings: { ...BRAKED.settings, confirmWindowMs: 3_000 } });
  const state: BrakeState = { row: [FAILED], closures: 1, failures: 0, tried: [], notices: [] };
  const { firstExecutionRunId } = await startBrake(env, state, closedFor('UNKNOWN'));
  // What is reported before that is no news to it.
  await waitUntil('its first task is over', async () => (await brakeHandle(env).describe()).historyLength > 4);

  await continuedAsNew(env, firstExecutionRunId);
  expect(await brakeOf(env)).toEqual({ running: true, closed: undefined });
});

it('a brake for which nobody has waited for long opens, though it has continued as new meanwhile', async () => {
  const env = await startTestEnvironment({ ...BRAKED, settings: { ...BRAKED.settings, confirmWindowMs: 6_000 } });
  const closed = { ...closedFor('UNKNOWN'), since: Date.now() - HOUR };
  const state: BrakeState = { row: [], closed, closures: 1, failures: 0, tried: [], notices: [] };
  await startBrake(env, state, closed);

  await waitUntil('it is open', async () => (await brakeOf(env)).closed === undefined);
});

/** One and the same purchase that fails again and again does not close it. */
const FAILED = { referenceId: 'R-1', sign: 'UNKNOWN' } as const;

/** @returns the id of the run that comes next, because so much was reported that the history is long enough. */
async function continuedAsNew(env: TestEnvironment, firstRunId: string): Promise<string> {
  // A server that writes each to a disk takes two thousand at once longer than a request may.
  const AT_ONCE = 100;
  for (let sent = 0; sent < BRAKE_HISTORY; sent += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, () => brakeHandle(env).signal(REPORT_PLACEMENTS_SIGNAL, [FAILED])),
    );
  }
  return waitUntil('it has continued as new', async () => {
    const { runId } = await brakeHandle(env).describe();
    return runId === firstRunId ? undefined : runId;
  });
}

function closedFor(reason: ClosedBrake['reason']): ClosedBrake {
  return { reason, since: Date.now(), until: Date.now() + 600_000 };
}

/** @param shown what its memo says when it begins. */
function startBrake(env: TestEnvironment, state: BrakeState, shown?: ClosedBrake) {
  return env.client.workflow.start(BRAKE_WORKFLOW, {
    workflowId: brakeWorkflowId(env.taskQueue),
    taskQueue: env.taskQueue,
    args: [state],
    memo: { brake: shown ?? null },
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
  });
}

/** How many came to each end, `HELD` among them. */
async function endsOf(env: TestEnvironment, references: readonly string[]): Promise<Map<string, number>> {
  const ends = new Map<string, number>();
  for (const referenceId of references) {
    const state = await waitUntil(`${referenceId} has ended or is held`, async () => {
      const status = await env.starter.status(referenceId);
      return status.state === 'HELD' || status.execution !== 'RUNNING' ? status.state : undefined;
    });
    ends.set(state, (ends.get(state) ?? 0) + 1);
  }
  return ends;
}
