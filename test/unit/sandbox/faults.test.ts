import type { Fault } from '../../../sandbox/index';
import { ONE, place, search, start } from './support';

test.each([
  ['the pages of the history that it waits for', { historyRequests: 2 }],
  ['its time', { ms: 1_000 }],
])('a late commit is not there when the answer comes, and is there after %s', async (_, after) => {
  const { sandbox } = await start();
  const commit = { type: 'late', ...after } as const;
  sandbox.addFault({ operation: 'place', action: { type: 'answer', status: 500 }, commit });
  expect((await place(sandbox, 'REF-1', ONE)).status).toBe(500);
  expect(await search(sandbox, 'REF-1')).toEqual([]);
  while ((await sandbox.ordersOf('REF-1')).length === 0) await search(sandbox, '');
  expect((await sandbox.ledger()).totals).toMatchObject({ orders: 1, debited: 4.99 });
});

test('a fault acts on the nth matching call, so many times, and on no other', async () => {
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
  ['an operation that there is not', { operation: 'pay', action: HANG }],
  ['a field that there is not', { operation: 'place', action: HANG, whne: 'after' }],
  ['a field that the action does not have', { operation: 'place', action: { ...HANG, ms: 1 } }],
  ['nothing to do', { operation: 'place' }],
  ['a reference, though it is early', { operation: 'place', beforeReading: true, referenceId: 'R', action: HANG }],
  ['a late commit without an answer', { operation: 'place', commit: { type: 'late', ms: 1 } }],
  ['a commit of a call that commits nothing', { operation: 'keys', commit: { type: 'copies', count: 2 } }],
])('a fault with %s is refused, so that no test runs without its fault', async (_, fault) => {
  const { sandbox } = await start();
  expect(() => sandbox.addFault(fault as Fault)).toThrow();
});
