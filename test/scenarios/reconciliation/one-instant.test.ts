import { minFindingAgeMs } from '../../../src/workflows/policies';
import { startReconciliationEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

describe('a reconciliation that reads for a long time', () => {
  it('does not report purchases that began or ended while it read; the next run sees them', async () => {
    // A page may take longer than the confirmation window.
    const settings = { confirmWindowMs: 100, partnerTimeoutMs: 900 };
    const env = await startReconciliationEnvironment({ reconcilesAheadMs: 0, partnerTimeoutMs: 60_000, settings });
    const isOldEnough = (at: string | Date) => Date.now() - new Date(at).getTime() > minFindingAgeMs(env.settings);
    const before = await env.buy({ 'demo-never': 1 });
    const open = await env.orderOf(before);
    await waitUntil('its placement is confirmed by now', () => isOldEnough(open.createdAt));

    // In the page that is being sent, `before` is still open and `during` is missing.
    const page = env.sandbox.addFault({ operation: 'orders', when: 'after', action: { type: 'wait' } });
    const reconciled = env.reconcile();
    await waitUntil('the page is asked for', () => page.hits === 1);
    await env.sandbox.changeOrder(open.id, { status: 'COMPLETED' });
    await env.starter.result(before);
    const during = (await env.bought({ 'demo-instant': 1 })).referenceId;
    const { closeTime } = await env.handleOf(during).describe();
    await waitUntil('so is its end', () => isOldEnough(closeTime!));
    env.sandbox.clearFaults();
    // A second read of an order must not be what prevents a finding.
    env.sandbox.addFault({ operation: 'keys', times: 'always', action: { type: 'answer', status: 503 } });

    expect((await reconciled).findings).toEqual({});
    env.sandbox.clearFaults();
    expect((await env.reconcile()).findings).toEqual({});
  });

  it('reads an order again when its row differs, and reports nothing that the order does not confirm', async () => {
    const env = await startReconciliationEnvironment();
    const bought = await Promise.all([env.bought({ 'demo-instant': 1 }), env.bought({ 'demo-instant': 1 })]);
    for (const [at, status] of ['FAILED', 'REFUNDED'].entries()) {
      await env.sandbox.changeOrder(bought[at]!.orderId!, { shownRow: { status } });
    }
    const { referenceId } = await env.bought({ 'demo-unknown': 1 });
    const order = await env.orderByHand({ 'demo-instant': 1 }, referenceId);
    await env.sandbox.changeOrder(order.id, { status: 'FAILED', shownRow: { status: 'PENDING' } });
    await env.untilListed("PurchaseState = 'DELIVERED'", 2);
    await env.untilListed("PurchaseState = 'REJECTED'", 1);

    expect((await env.reconcile()).findings).toEqual({});
    env.sandbox.settings({ historyLagMs: 1_000_000 });
    expect((await env.reconcile()).findings).toEqual({});
    env.sandbox.settings({ historyLagMs: 0 });
    // Neither a refused key nor another reading of the order confirms the row.
    for (const status of [401, 410]) {
      env.sandbox.clearFaults();
      env.sandbox.addFault({ operation: 'keys', times: 'always', action: { type: 'answer', status } });
      const left = { done: 'unrepaired', note: expect.stringContaining('could not be read again') };
      expect((await env.reconcile()).details).toMatchObject([left, left, left]);
    }
    expect(env.eventTypes(referenceId)).toEqual(['purchase.rejected']);
    for (const { referenceId } of bought) expect(env.eventTypes(referenceId)).not.toContain('purchase.refunded');
  });
});
