import { expectDeliveredOnce } from '../../support/checks';
import { type Operator, operatorOf } from '../../support/operator';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { changeOrder } from '../../support/watched';

describe('a purchase that someone cancels or terminates', () => {
  const env = sharedEnvironment({ pastOrders: 3, settings: { replace: 'never' } });
  const silent = new Set<string>();

  beforeAll(() => {
    env.receiver.answerWith(({ body }) => (silent.has(body.data.referenceId) ? 500 : 204));
  });

  const onItsWay = (referenceId: string) =>
    waitUntil('the placement is on its way', () => env.sandbox.placeRequestsOf(referenceId) === 1);

  it.concurrent.each([
    ['the placement is on its way', onItsWay],
    ['the keys are delivered', (_: string, operator: Operator) => operator.pending('deliverSale', 2)],
  ])('while %s, is only noted: the order is bought and delivered, and the result says so', async (_, moment) => {
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, action: { type: 'delay', ms: 500 } });
    silent.add(referenceId);
    await env.buy({ 'demo-instant': 2 }, referenceId);
    const operator = operatorOf(env, referenceId);
    await moment(referenceId, operator);

    await operator.cancel();
    await operator.cancelRequested();
    silent.delete(referenceId);

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED', cancelRequested: true });
    await expectDeliveredOnce(env, referenceId, 2);
  });

  it.concurrent('terminated, is found by another start; reset then, sees its order through', async () => {
    const referenceId = await env.buy({ 'demo-never': 2 });
    const operator = operatorOf(env, referenceId);
    await operator.pending('awaitOrderChange', 2);
    await operator.terminate();
    const items = [{ productId: 'demo-never', quantity: 2 }];
    expect(await env.starter.purchase({ referenceId, items })).toMatchObject({ started: false });

    await changeOrder(env, referenceId, { status: 'COMPLETED' });
    const [first] = await operator.points();
    await operator.reset(first!);

    expect(await operator.result()).toMatchObject({ outcome: 'DELIVERED' });
    await expectDeliveredOnce(env, referenceId, 2);
  });
});
