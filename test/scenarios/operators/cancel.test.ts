import { operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';

describe('a purchase that someone cancels or terminates', () => {
  const env = sharedEnvironment({ pastOrders: 3, settings: { replace: 'never' } });

  it.concurrent.each([
    ['the placement is on its way', (referenceId: string) => env.untilSent(referenceId)],
    ['the keys are delivered', (referenceId: string) => operatorOf(env, referenceId).pending('deliverSale', 2)],
  ])('while %s, is only noted: the order is bought and delivered, and the result says so', async (_, moment) => {
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'delay', ms: 500 } });
    env.receiver.answerTo(referenceId, 500);
    await env.buy({ 'demo-instant': 2 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await moment(referenceId);

    await operator.cancel();
    await operator.cancelRequested();
    env.receiver.take(referenceId);

    expect(await operator.result()).toMatchObject({ cancelRequested: true });
    await expectDeliveredOnce(env, referenceId, 2);
  });

  it.concurrent('terminated, is found by another start; reset then, sees its order through', async () => {
    const referenceId = await env.buy({ 'demo-never': 2 });
    const operator = operatorOf(env, referenceId);
    await operator.pending('awaitOrderChange', 2);
    await operator.terminate();
    const items = [{ productId: 'demo-never', quantity: 2 }];
    expect(await env.starter.purchase({ referenceId, items })).toMatchObject({ started: false });

    await env.changeOrder(referenceId, { status: 'COMPLETED' });
    const [first] = await operator.points();
    await operator.reset(first!);

    await expectDeliveredOnce(env, referenceId, 2);
  });
});
