import { purchaseWorkflowId, RESOLVE_UPDATE, STATUS_QUERY } from '../../../src/contracts/names';
import { expectDeliveredOnce, rejectionOf } from '../../support/checks';
import { operatorOf } from '../../support/operator';
import { sharedEnvironment } from '../../support/test-environment';
import { UNDECODABLE_VALUES } from '../../support/undecodable';
import { changeOrder } from '../../support/watched';

describe('a purchase that somebody sends what can not be decoded', () => {
  const env = sharedEnvironment();

  it('goes on, and no task of it is tried for ever', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    const operator = operatorOf(env, referenceId);
    await operator.pending('awaitOrderChange', 2);
    const purchase = env.client.workflow.getHandle(purchaseWorkflowId(referenceId));
    for (const value of UNDECODABLE_VALUES) {
      await purchase.signal('orderChanged', value);
      expect(await purchase.query(STATUS_QUERY, value)).toMatchObject({ state: 'PENDING' });
      const refused = await rejectionOf(purchase.executeUpdate(RESOLVE_UPDATE, { args: [value] }));
      expect(refused).toMatchObject({ name: 'WorkflowUpdateFailedError' });
    }

    await changeOrder(env, referenceId, { status: 'COMPLETED' });
    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
    expect(await operator.brokenTasks()).toEqual([]);
    await expectDeliveredOnce(env, referenceId, 1);
  });
});
