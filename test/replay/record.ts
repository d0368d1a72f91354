import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { Fault } from '../../sandbox';
import { deliverWorkflowId, purchaseWorkflowId, RECONCILE_NOW } from '../../src/contracts/names';
import type { Decision, HoldReason } from '../../src/domain/holds';
import { reconcileNow } from '../../src/starter/index';
import { purchaseBeforeHold } from '../support/held-purchases';
import { operatorOf } from '../support/operator';
import {
  startReconciliationEnvironment,
  startTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment';
import { waitUntil } from '../support/wait-until';
import { findLeaks } from '../security/support/leak-search';
import { HISTORIES } from './histories';

/**
 * Records the histories for `replay.test.ts` on a real server. Jest runs this file only on request:
 *
 *     npm test -- --testMatch '<rootDir>/test/replay/record.ts' && npm run format
 *
 * Before the first release, record again after any change to the workflows. After it, keep the existing histories and
 * add new ones for new behaviour.
 */
describe('recording', () => {
  let env: TestEnvironment;

  beforeAll(async () => {
    rmSync(HISTORIES, { recursive: true, force: true });
    mkdirSync(HISTORIES);
    const settings = { replace: 'never', deadlineMs: 6_000, placeWithinMs: 2_500 } as const;
    env = await startTestEnvironment({ settings, sandbox: { agePerPollMs: 30_000 } });
    env.sandbox.addPastOrders({ count: 3 });
  });

  it.each([
    ['delivered', 'demo-image'],
    ['delivered-after-changes', 'demo-strange'],
    ['partially-delivered', 'demo-partial'],
    ['refunded', 'demo-refunded'],
    ['failed', 'demo-failed'],
    ['rejected', 'demo-out-of-stock'],
    ['overdue', 'demo-never'],
  ])('%s', async (name, product) => {
    const { referenceId } = await env.bought({ [product]: 2 });
    await keep(name, referenceId);
  });

  it('not-placed, and cancelled before any request', async () => {
    const [unplaced, cancelled] = [env.reference(), env.reference()];
    for (const referenceId of [unplaced, cancelled]) {
      const action = { type: 'answer', status: 503 } as const;
      env.sandbox.addFault({ operation: 'orders', referenceId, times: 'always', action });
      await env.buy({ 'demo-instant': 1 }, referenceId);
    }
    await operatorOf(env, cancelled).cancel();
    await keep('cancelled', cancelled);
    await keep('not-placed', unplaced);
  });

  it.each<[string, Fault['commit']]>([
    ['unconfirmed-adopted', undefined],
    ['double-purchase', { type: 'copies', count: 2 }],
  ])('%s', async (name, commit) => {
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, when: 'after', action: { type: 'reset' }, commit });
    await env.buy({ 'demo-instant': 2 }, referenceId);
    await keep(name, referenceId);
  });

  it('cancelled while the order was open, so that the purchase continues to its end', async () => {
    const referenceId = await env.buy({ 'demo-strange': 1 });
    const operator = operatorOf(env, referenceId);
    await operator.pending('pollUntilEnded', 2);
    await operator.cancel();
    await keep('cancel-seen-through', referenceId);
  });

  it.each([
    ['PLACEMENT_UNKNOWN', 'replace'],
    ['PLACEMENT_UNKNOWN', 'order'],
    ['PLACEMENT_UNKNOWN', 'abandon'],
    ['OTHER_ITEMS', 'deliver'],
    ['ORDER_OF_ANOTHER_PURCHASE', 'order'],
    ['MORE_KEYS_THAN_ORDERED', 'withhold'],
    ['ORDER_CHANGES', 'deliver'],
    ['ORDER_TOO_LARGE', 'deliver'],
    ['DELIVERY_REFUSED', 'deliver'],
    ['DELIVERY_EXHAUSTED', 'withhold'],
  ] as [HoldReason, Decision][])('held because %s, decided with %s', async (reason, decision) => {
    const { referenceId, operator, decide } = await purchaseBeforeHold(env, reason);
    const hold = await operator.held(reason);
    await waitUntil('the checkout knows about the hold', () => env.eventTypes(referenceId).includes('purchase.held'));
    // Also records a rejected decision.
    await operator.resolve(decision, { holdId: `${hold.id}0`, orderId: 'some-order' }).catch(() => undefined);
    await decide(decision);
    await keep(`held-${reason.toLowerCase().replaceAll('_', '-')}-${decision}`, referenceId);
  });

  it('held after a reset', async () => {
    const { referenceId } = await env.bought({ 'demo-out-of-stock': 1 });
    const operator = operatorOf(env, referenceId);
    await operator.reset((await operator.points())[0]!);
    await operator.held('PLACEMENT_UNKNOWN');
    await operator.resolve('abandon');
    await keep('held-after-reset', referenceId);
  });

  it('reset to before the placement', async () => {
    const { referenceId } = await env.bought({ 'demo-instant': 1 });
    const operator = operatorOf(env, referenceId);
    await operator.reset((await operator.points())[0]!);
    await keep('reset', referenceId);
  });

  it('paused by the circuit breaker', async () => {
    const guarded = await startTestEnvironment({
      circuitBreaker: true,
      pastOrders: 5,
      settings: { confirmWindowMs: 20_000 },
    });
    guarded.sandbox.addFault({ operation: 'place', times: 'always', action: { type: 'answer', status: 402 } });
    await guarded.ended(await Promise.all(Array.from({ length: 5 }, () => guarded.buy({ 'demo-instant': 1 }))));
    const referenceId = await guarded.buy({ 'demo-instant': 1 });
    await guarded.untilState(referenceId, 'PAUSED');
    guarded.sandbox.clearFaults();
    await keep('paused', referenceId, guarded);
  });

  it('a reconciliation, and the late delivery that it started', async () => {
    const reconciled = await startReconciliationEnvironment();
    const { referenceId } = await reconciled.overdue();
    await reconciled.changeOrder(referenceId, { status: 'COMPLETED' });
    await reconcileNow(reconciled.client, reconciled.taskQueue);
    await keepWorkflow('reconciled', RECONCILE_NOW, reconciled, referenceId);
    await keepWorkflow('late-delivery', deliverWorkflowId(referenceId), reconciled, referenceId);
  });

  /** Waits for the end and writes the history without details of this machine. It must not contain a key. */
  async function keep(name: string, referenceId: string, from = env): Promise<void> {
    await from.starter.result(referenceId);
    await keepWorkflow(name, purchaseWorkflowId(referenceId), from, referenceId);
  }

  async function keepWorkflow(name: string, workflowId: string, from: TestEnvironment, referenceId: string) {
    const handle = from.client.workflow.getHandle(workflowId);
    await handle.result();
    const history: unknown = JSON.parse(historyToJSON(await handle.fetchHistory()));
    const file = { workflowId, history: withoutMachine(history) };

    const { issued } = await from.audit(referenceId);
    const keys = issued.map((value) => ({ name: 'a key', value }));
    expect(findLeaks(keys, [{ place: name, text: JSON.stringify(file) }])).toEqual([]);
    writeFileSync(join(HISTORIES, `${name}.json`), `${JSON.stringify(file, null, 2)}\n`);
  }
});

/** Removes identities and queue names, which contain a process id and a host, and stack traces, which contain paths. */
function withoutMachine(value: unknown): unknown {
  const text = JSON.stringify(value, (key, entry: unknown) => {
    if (key === 'stackTrace') return '';
    return typeof entry === 'string' && /^\d+@/.test(entry) ? 'recorded' : entry;
  });
  return JSON.parse(text);
}
