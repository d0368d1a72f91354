import { readOrderHistory } from '../../../src/activities/reconcile/read-records';
import type { Progress } from '../../../src/activities/progress';
import { createPartnerClient } from '../../../src/partner/index';
import { type Fault, startSandbox } from '../../../sandbox/index';
import { closeAtEnd } from '../../support/clean-up';
import { startServer } from '../../support/http-server';
import { clientOf, envelope, historyRow } from '../../unit/partner/fixtures';

const PAGES = 40;

const quiet: Progress = { show: () => undefined, signal: new AbortController().signal, close: () => undefined };

/** Reads a history with this many pages. The seventh page fails this many times before it succeeds. */
async function readFailing(times: Fault['times']) {
  const sandbox = await startSandbox();
  closeAtEnd(sandbox.close);
  sandbox.addPastOrders({ count: 500 * PAGES, days: 3 });
  const fault = sandbox.addFault({ operation: 'orders', nth: 7, times, action: { type: 'answer', status: 503 } });
  const partner = createPartnerClient({ baseUrl: sandbox.url, apiKey: () => 'sandbox-key' });
  closeAtEnd(partner.close);
  return { sandbox, fault, history: readOrderHistory(partner, 0, quiet) };
}

it('retries a page that fails and does not start reading the order history again', async () => {
  const { sandbox, fault, history } = await readFailing(2);

  expect((await history).orders).toHaveLength(500 * PAGES);
  expect(fault.hits).toBe(2);
  expect(sandbox.requests().orders).toBeLessThanOrEqual(PAGES * 1.05 + 2);
});

it('gives up an order history when one page keeps failing, and returns no partial history', async () => {
  const { history } = await readFailing('always');
  await expect(history).rejects.toMatchObject({ kind: 'status' });
});

it('reports gaps in the pages of the order history, and still returns all rows that they show', async () => {
  const rows = ['o-1', 'o-2'].map((id) => historyRow(id));
  const { url } = await startServer({
    respond: () => ({ json: envelope({ hits: 3, orders: rows, pages: { page: 1, total: 1, limit: 500 } }) }),
  });
  const { orders, unreadable } = await readOrderHistory(clientOf(url), 0, quiet);
  expect(orders.map(({ id }) => id)).toEqual(['o-1', 'o-2']);
  expect(unreadable).toEqual([{ what: 'history', reason: expect.stringContaining('of 3 rows') }]);
});
