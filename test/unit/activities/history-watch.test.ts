import { createHistoryWatch } from '../../../src/activities';
import { waitUntil } from '../../support/wait-until';
import { clientOf, envelope, historyRow, serverWith } from '../partner/fixtures';

const ORDER = { orderId: 'o-1', referenceId: 'REF-o-1', purchaseStartedAt: 0, intervalMs: 30_000 };

it.each([
  ['the first', ['COMPLETED', 'PROCESSING', 'PROCESSING'], undefined],
  ['a later one', ['PROCESSING', 'PROCESSING', 'COMPLETED'], undefined],
  ['none', ['PROCESSING', 'PENDING', 'PROCESSING'], 'PROCESSING in the order history'],
])('of an order with several rows, %s shows that it may have ended', async (_, statuses, reason) => {
  const orders = statuses.map((status, at) => historyRow('o-1', { status, item: { id: `p-${at}`, quantity: 1 } }));
  const pages = { page: 1, total: 1, limit: 500 };
  const server = await serverWith({ body: JSON.stringify(envelope({ hits: orders.length, orders, pages })) });
  const { skipReason } = createHistoryWatch(clientOf(server.url), new AbortController().signal);

  const reading = 'the order history is being read';
  expect(skipReason(ORDER)).toBe(reading);
  await waitUntil('it has been read', () => skipReason(ORDER) !== reading);
  expect(skipReason(ORDER)).toBe(reason);
});
