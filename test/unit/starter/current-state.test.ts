import type { Client } from '@temporalio/client';
import { createStarter } from '../../../src/starter/index';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

/** A workflow as the server describes and lists it. */
function workflow(id: string, execution: string, state: string, closed?: number) {
  return {
    workflowId: id,
    runId: 'r',
    taskQueue: 'q',
    status: { name: execution },
    typedSearchAttributes: { get: ({ name }: { name: string }) => (name === 'PurchaseState' ? state : undefined) },
    startTime: at(0),
    closeTime: closed === undefined ? undefined : at(closed),
    memo: {},
    historyLength: 20,
    raw: {},
  };
}

/** Shows one purchase, and a delivery that ended `DELIVERED` at minute 5. */
function starterWith(purchase: ReturnType<typeof workflow>) {
  const delivery = workflow('deliver-SALE-1', 'COMPLETED', 'DELIVERED', 5);
  const client = {
    options: { namespace: 'default' },
    withDeadline: (_: number, run: () => unknown) => run(),
    workflow: {
      getHandle: () => ({
        describe: () => Promise.resolve(purchase),
        result: () => Promise.resolve({ outcome: 'OVERDUE' }),
      }),
      list: async function* ({ query }: { query: string }) {
        yield await Promise.resolve(query.includes("WorkflowType = 'purchaseWorkflow'") ? purchase : delivery);
      },
    },
  };
  return createStarter(client as unknown as Client);
}

describe('the state after a late delivery', () => {
  it('is the one that the delivery left', async () => {
    const starter = starterWith(workflow('purchase-SALE-1', 'COMPLETED', 'OVERDUE', 1));
    expect(await starter.status('SALE-1')).toMatchObject({ state: 'DELIVERED', result: { outcome: 'OVERDUE' } });
    const { purchases } = await starter.list({ state: 'OVERDUE' });
    expect(purchases).toMatchObject([{ state: 'DELIVERED', outcome: 'OVERDUE', commands: [] }]);
  });

  it('still shows that a terminated purchase ended without a result', async () => {
    const starter = starterWith(workflow('purchase-SALE-1', 'TERMINATED', 'PENDING', 1));
    const { purchases } = await starter.list({ state: 'PENDING' });
    expect(purchases).toMatchObject([{ state: 'DELIVERED', outcome: 'ENDED_WITHOUT_RESULT' }]);
  });

  it('is not that of an earlier delivery once the purchase was reset', async () => {
    const running = await starterWith(workflow('purchase-SALE-1', 'RUNNING', 'PENDING')).status('SALE-1');
    expect([running.state, running.afterEnd]).toEqual(['PENDING', undefined]);
    const starter = starterWith(workflow('purchase-SALE-1', 'COMPLETED', 'OVERDUE', 9));
    const ended = await starter.status('SALE-1');
    expect([ended.state, ended.afterEnd]).toEqual(['OVERDUE', undefined]);
    const { purchases } = await starter.list({ state: 'OVERDUE' });
    expect(purchases.map(({ state, outcome }) => [state, outcome])).toEqual([['OVERDUE', undefined]]);
  });
});
