import { NothingToCancelError, PurchaseNotFoundError } from '../../../src/starter/index';
import { HOLD_ARRANGEMENTS, scriptedCheckout } from '../../support/held-purchases';
import { operatorOf } from '../../support/operator';
import { starterEnvOf, starterProcess } from '../../support/processes';
import { sharedEnvironment } from '../../support/test-environment';

describe('cancel asks a purchase to end, and says what comes of it', () => {
  const env = sharedEnvironment({ settings: { replace: 'never', confirmWindowMs: 100 }, pastOrders: 3 });
  const run = (...args: string[]) => starterProcess(args, starterEnvOf(env));

  it.concurrent(
    'while its order is open: it is seen through; once it has ended there is nothing to cancel',
    async () => {
      const referenceId = await env.buy({ 'demo-never': 1 });
      await env.untilState(referenceId, 'PENDING');

      const { code, stdout } = await run('cancel', referenceId, '--json');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ referenceId, state: 'PENDING', effect: 'SEEN_THROUGH' });
      const again = await run('cancel', referenceId);
      expect(again.stdout).toContain(
        `asked to cancel ${referenceId}, which is PENDING: there is an order: it is seen through`,
      );

      const [order] = await env.sandbox.ordersOf(referenceId);
      await env.sandbox.changeOrder(order!.id, { status: 'COMPLETED' });
      expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED', cancelRequested: true });
      await expect(env.starter.cancel(referenceId)).rejects.toThrow(NothingToCancelError);
      await expect(env.starter.cancel('nobody-knows-me')).rejects.toThrow(PurchaseNotFoundError);
      expect(await run('cancel', referenceId)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`Purchase ${referenceId} has ended DELIVERED`) as string,
      });
    },
  );

  it.concurrent('while it is held: a hold whose order is shown absent ends, one about an order stays', async () => {
    const absent = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId: absent, action: { type: 'reset' } });
    await env.buy({ 'demo-instant': 1 }, absent);
    expect(await operatorOf(env, absent).held('PLACEMENT_UNKNOWN')).toMatchObject({ endsOnCancel: true });
    expect(await env.starter.cancel(absent)).toMatchObject({ effect: 'CANCELLED_UNLESS_BOUGHT' });
    expect(await env.starter.result(absent)).toMatchObject({ outcome: 'CANCELLED' });

    const arrange = HOLD_ARRANGEMENTS.MORE_KEYS_THAN_ORDERED;
    const { referenceId } = await arrange({ env, checkout: scriptedCheckout(env), referenceId: env.reference() });
    const operator = operatorOf(env, referenceId);
    const hold = await operator.held('MORE_KEYS_THAN_ORDERED');
    expect(await env.starter.cancel(referenceId)).toMatchObject({ state: 'HELD', effect: 'STAYS_HELD' });
    await operator.idle();
    expect((await env.starter.status(referenceId)).hold).toEqual(hold);
    await operator.resolve('withhold');
  });
});
