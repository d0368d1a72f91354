import { RESOLVE_UPDATE, STATUS_QUERY } from '../../../src/contracts/names';
import { rejectionOf } from '../../support/checks';
import { operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';
import { UNDECODABLE_VALUES } from '../../support/undecodable';

describe('a purchase that somebody sends what can not be decoded', () => {
  const env = sharedEnvironment();

  it('goes on, and no task of it is tried for ever', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    await operatorOf(env, referenceId).pending('awaitOrderChange', 2);
    const purchase = env.handleOf(referenceId);
    for (const value of UNDECODABLE_VALUES) {
      await purchase.signal('orderChanged', value);
      expect(await purchase.query(STATUS_QUERY, value)).toMatchObject({ state: 'PENDING' });
      const refused = await rejectionOf(purchase.executeUpdate(RESOLVE_UPDATE, { args: [value] }));
      expect(refused).toMatchObject({ name: 'WorkflowUpdateFailedError' });
    }

    await env.changeOrder(referenceId, { status: 'COMPLETED' });
    await expectDeliveredOnce(env, referenceId, 1);
  });
});
