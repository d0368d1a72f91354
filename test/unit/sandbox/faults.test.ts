import type { Fault } from '../../../sandbox/index';
import { ONE, place, search, start } from './support';

test.each([
  ['the set number of history pages', { historyRequests: 2 }],
  ['the set time', { ms: 1_000 }],
])('a late commit is not visible when the response arrives, but becomes visible after %s', async (_, after) => {
  const { sandbox } = await start();
  const commit = { type: 'late', ...after } as const;
  sandbox.addFault({ operation: 'place', action: { type: 'answer', status: 500 }, commit });
  expect((await place(sandbox, 'REF-1', ONE)).status).toBe(500);
  expect(await search(sandbox, 'REF-1')).toEqual([]);
  while ((await sandbox.ordersOf('REF-1')).length === 0) await search(sandbox, '');
  expect((await sandbox.ledger()).totals).toMatchObject({ orders: 1, debited: 4.99 });
});

test('a fault affects the nth matching call and the set number of calls, and no others', async () => {
  const { sandbox } = await start();
  const action = { type: 'answer', status: 503 } as const;
  const active = sandbox.addFault({ operation: 'place', referenceId: 'REF-1', nth: 2, times: 2, action });
  const statuses = [];
  for (let count = 0; count < 5; count += 1) {
    statuses.push((await place(sandbox, 'REF-2', ONE)).status, (await place(sandbox, 'REF-1', ONE)).status);
  }
  expect(statuses).toEqual([200, 200, 200, 503, 200, 503, 200, 200, 200, 200]);
  expect(active).toMatchObject({ seen: 5, hits: 2 });
});

const HANG = { type: 'hang' };

test.each<[string, unknown]>([
  ['an unknown operation', { operation: 'pay', action: HANG }],
  ['an unknown field', { operation: 'place', action: HANG, whne: 'after' }],
  ['a field that the action does not have', { operation: 'place', action: { ...HANG, ms: 1 } }],
  ['no action', { operation: 'place' }],
  [
    'a reference, although it acts before the request is read',
    { operation: 'place', beforeReading: true, referenceId: 'R', action: HANG },
  ],
  ['a late commit without a response', { operation: 'place', commit: { type: 'late', ms: 1 } }],
  ['a commit for a call that commits nothing', { operation: 'keys', commit: { type: 'copies', count: 2 } }],
])('a fault with %s is rejected, so that no test runs without its fault', async (_, fault) => {
  const { sandbox } = await start();
  expect(() => sandbox.addFault(fault as Fault)).toThrow();
});
