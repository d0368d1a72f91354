import { readOrderHistory } from '../../../src/activities/reconcile/read-records';
import type { Progress } from '../../../src/activities/progress';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/index';
import { type Sandbox, startSandbox } from '../../../sandbox/index';
import { closeAtEnd } from '../../support/clean-up';

const COUNT = 20_000;
const PAGES = COUNT / 500;

const quiet: Progress = { show: () => undefined, signal: new AbortController().signal, close: () => undefined };

describe('reading the order history', () => {
  async function partnerWith(order: 'newest' | 'oldest'): Promise<[Sandbox, PartnerClient]> {
    const sandbox = await startSandbox({ historyOrder: order });
    sandbox.addPastOrders({ count: COUNT, days: 3 });
    const partner = createPartnerClient({ baseUrl: sandbox.url, apiKey: () => 'sandbox-key' });
    closeAtEnd(sandbox.close);
    closeAtEnd(partner.close);
    return [sandbox, partner];
  }

  it.each(['newest', 'oldest'] as const)(
    'misses none and reads none twice while orders come in at every page, and asks for none again, %s first',
    async (order) => {
      const [sandbox, partner] = await partnerWith(order);
      sandbox.settings({ historyShift: 20 });

      const { orders } = await readOrderHistory(partner, 0, quiet);

      const past = orders.filter(({ referenceId }) => referenceId?.startsWith('past-'));
      expect(past).toHaveLength(COUNT);
      expect(new Set(orders.map(({ id }) => id)).size).toBe(orders.length);
      expect(sandbox.requests().orders).toBeLessThanOrEqual(Math.ceil((COUNT + 43 * 20) / 500) * 1.05);
    },
  );

  it('asks again where the partner fails in the middle, and does not begin again for that', async () => {
    const [sandbox, partner] = await partnerWith('newest');
    const fault = sandbox.addFault({ operation: 'orders', nth: 7, times: 2, action: { type: 'answer', status: 503 } });

    expect((await readOrderHistory(partner, 0, quiet)).orders).toHaveLength(COUNT);

    expect(fault.hits).toBe(2);
    expect(sandbox.requests().orders).toBeLessThanOrEqual(PAGES * 1.05 + 2);
  });

  it('gives up where the partner keeps failing: half a history is none', async () => {
    const [sandbox, partner] = await partnerWith('newest');
    sandbox.addFault({ operation: 'orders', nth: 7, times: 'always', action: { type: 'answer', status: 503 } });

    await expect(readOrderHistory(partner, 0, quiet)).rejects.toMatchObject({ kind: 'status' });
  });
});
