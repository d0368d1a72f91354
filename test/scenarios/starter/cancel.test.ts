import { NothingToCancelError, PurchaseNotFoundError } from '../../../src/starter/index';
import { heldPurchase } from '../../support/held-purchases';
import { starterEnvOf, starterProcess } from '../../support/processes';
import { sharedEnvironment } from '../../support/test-environment';

describe('cancel asks a purchase to end, and says what comes of it', () => {
  const env = sharedEnvironment({ settings: { replace: 'never', confirmWindowMs: 100 }, pastOrders: 3 });
  const run = (...args: string[]) => starterProcess(args, starterEnvOf(env));

  it.concurrent('while its order is open: it is seen through; once it has ended nothing is to cancel', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    await env.untilState(referenceId, 'PENDING');

    const { code, stdout } = await run('cancel', referenceId, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ referenceId, state: 'PENDING', effect: 'SEEN_THROUGH' });
    const again = await run('cancel', referenceId);
    expect(again.stdout).toContain(`asked to cancel ${referenceId}, which is PENDING: there is an order: it is seen`);

    await env.changeOrder(referenceId, { status: 'COMPLETED' });
    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED', cancelRequested: true });
    await expect(env.starter.cancel(referenceId)).rejects.toThrow(NothingToCancelError);
    await expect(env.starter.cancel('nobody-knows-me')).rejects.toThrow(PurchaseNotFoundError);
    const late = await run('cancel', referenceId);
    expect(late.code).toBe(1);
    expect(late.stderr).toContain(`Purchase ${referenceId} has ended DELIVERED`);
  });

  it.concurrent('while it is held: a hold whose order is shown absent ends, one about an order stays', async () => {
    const absent = await heldPurchase(env, 'PLACEMENT_UNKNOWN');
    expect(absent.hold).toMatchObject({ endsOnCancel: true });
    expect(await env.starter.cancel(absent.referenceId)).toMatchObject({ effect: 'CANCELLED_UNLESS_BOUGHT' });
    expect(await absent.operator.result()).toMatchObject({ outcome: 'CANCELLED' });

    const { referenceId, operator, hold } = await heldPurchase(env, 'MORE_KEYS_THAN_ORDERED');
    expect(await env.starter.cancel(referenceId)).toMatchObject({ state: 'HELD', effect: 'STAYS_HELD' });
    await operator.idle();
    expect((await env.starter.status(referenceId)).hold).toEqual(hold);
    await operator.resolve('withhold');
  });
});
