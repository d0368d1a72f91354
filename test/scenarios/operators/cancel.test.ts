import { NothingToCancelError, PurchaseNotFoundError } from '../../../src/starter/index';
import { heldPurchase } from '../../support/held-purchases';
import { operatorOf } from '../../support/operator';
import { starterEnvOf, starterProcess } from '../../support/processes';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';

describe('a purchase that an operator cancels or terminates', () => {
  const env = sharedEnvironment({ pastOrders: 3, settings: { replace: 'never' } });
  const run = (...args: string[]) => starterProcess(args, starterEnvOf(env));

  it.concurrent.each([
    ['the order is being placed', (referenceId: string) => env.untilSent(referenceId)],
    ['the keys are being delivered', (referenceId: string) => operatorOf(env, referenceId).pending('deliverSale', 2)],
  ])(
    'a cancel while %s is only recorded: the order is still delivered, and the result mentions the cancel',
    async (_, moment) => {
      const referenceId = env.reference();
      env.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'delay', ms: 500 } });
      env.receiver.responseTo(referenceId, 500);
      await env.buy({ 'demo-instant': 2 }, referenceId);
      const operator = operatorOf(env, referenceId);
      await moment(referenceId);

      await operator.cancel();
      await operator.cancelRequested();
      env.receiver.take(referenceId);

      expect(await operator.result()).toMatchObject({ cancelRequested: true });
      await expectDeliveredOnce(env, referenceId, 2);
    },
  );

  it.concurrent(
    'a terminated purchase is found by a second start, and a reset completes its order without placing another',
    async () => {
      const referenceId = await env.buy({ 'demo-never': 2 });
      const operator = operatorOf(env, referenceId);
      await operator.pending('pollUntilEnded', 2);
      await operator.terminate();
      const items = [{ productId: 'demo-never', quantity: 2 }];
      expect(await env.starter.purchase({ referenceId, items })).toMatchObject({ started: false });

      await env.changeOrder(referenceId, { status: 'COMPLETED' });
      const [first] = await operator.points();
      await operator.reset(first!);

      await expectDeliveredOnce(env, referenceId, 2);
    },
  );

  it.concurrent(
    'the cancel command completes an open order, and does not change a purchase that has ended',
    async () => {
      const referenceId = await env.buy({ 'demo-never': 1 });
      await env.untilState(referenceId, 'PENDING');

      const { code, stdout } = await run('cancel', referenceId, '--json');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ referenceId, state: 'PENDING', effect: 'ORDER_COMPLETES' });
      const again = await run('cancel', referenceId);
      expect(again.stdout).toContain(
        `cancellation requested for ${referenceId}, which is PENDING: it already has an order, so the order is completed`,
      );

      await env.changeOrder(referenceId, { status: 'COMPLETED' });
      expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED', cancelRequested: true });
      await expect(env.starter.cancel(referenceId)).rejects.toThrow(NothingToCancelError);
      await expect(env.starter.cancel('nobody-knows-me')).rejects.toThrow(PurchaseNotFoundError);
      const late = await run('cancel', referenceId);
      expect(late.code).toBe(1);
      expect(late.stderr).toContain(`Purchase ${referenceId} can't be cancelled, because it ended as DELIVERED`);
      expect(late.stderr).toContain(`\nTo see its state: npx fulfilment status ${referenceId}`);
    },
  );

  it.concurrent('a cancel keeps a hold, because only a decision ends it', async () => {
    const { referenceId, operator, hold } = await heldPurchase(env, 'MORE_KEYS_THAN_ORDERED');
    expect(await env.starter.cancel(referenceId)).toMatchObject({ state: 'HELD', effect: 'STAYS_HELD' });
    await operator.idle();
    expect(await env.starter.status(referenceId)).toMatchObject({ hold, cancelRequested: true });
    expect((await run('status', referenceId)).stdout).toContain(
      '\n  a cancel was requested: the order is not placed again\n',
    );
    await operator.resolve('withhold');
  });

  it.concurrent('after a cancel, the decision to place the order again places none', async () => {
    const { referenceId, operator } = await heldPurchase(env, 'PLACEMENT_UNKNOWN');
    const { explanation } = await env.starter.cancel(referenceId);
    expect(explanation).toContain('nothing more is bought');
    await operator.resolve('replace');
    expect(await operator.result()).toMatchObject({
      outcome: 'CANCELLED',
      reason: 'cancelled before an order was placed. Last step: an operator decided to place it again',
    });
    expect(await env.audit(referenceId)).toMatchObject({ orderCount: 0, requests: 1 });
  });
});
