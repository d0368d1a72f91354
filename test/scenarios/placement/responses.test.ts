import { inParallel } from '../../../src/activities/in-parallel';
import { type PurchaseFault, sharedEnvironment } from '../../support/test-environment';
import { type PurchaseRun, runPurchase, searchesFor } from './run-purchase';

type Action = NonNullable<PurchaseFault['action']>;

interface Row {
  seen: string;
  faults: PurchaseFault[];
  state: string;
  /** Orders at the partner. */
  orderCount: number;
  /** Place-order requests. */
  requests: number;
}

const BOUGHT = { state: 'DELIVERED', orderCount: 1, requests: 1 };
const AGAIN = { ...BOUGHT, requests: 2 };
const REJECTED = { state: 'REJECTED', orderCount: 0, requests: 1 };
const HELD = { ...REJECTED, state: 'HELD' };

const BROKEN: [string, Action][] = [
  ['no response at all', { type: 'hang' }],
  ['a reset', { type: 'reset' }],
  ['a close', { type: 'close' }],
  ['a slow drip', { type: 'drip', everyMs: 200 }],
  ['endless 102s', { type: 'informational', everyMs: 200 }],
  ['half a body by its length', { type: 'truncate', framing: 'content-length' }],
  ['half a body in chunks', { type: 'truncate', framing: 'chunked' }],
  ['half a body that just ends', { type: 'truncate', framing: 'none' }],
  ['200 with a page of HTML', { type: 'body', text: '<h1>Welcome</h1>', contentType: 'text/html' }],
  ['200 with nothing in it', { type: 'body', text: '' }],
  ['200 with another envelope', { type: 'body', text: '{"id":"ord-1"}' }],
  [
    'a redirect to another address',
    { type: 'answer', status: 307, headers: { location: 'http://127.0.0.1:1/place-order' } },
  ],
  ['301', { type: 'answer', status: 301, headers: { location: '/place-order' } }],
  ['421, on which some clients send again by themselves', { type: 'answer', status: 421 }],
  ['an unexpected status', { type: 'answer', status: 418 }],
];

const ERROR_RESPONSE: [string, Action][] = [
  ...[408, 425, 429, 500, 502, 503, 504].map((status): [string, Action] => [`${status}`, { type: 'answer', status }]),
  ["a proxy's page with 502", { type: 'answer', status: 502, body: '<h1>Bad gateway</h1>' }],
  ['success: false', { type: 'unsuccessful' }],
];

/** With all at once, a busy machine needs longer between recorded intention and response than an attempt may last. */
const AT_ONCE = 30;

const UNUSABLE_IDS = [null, 7.5, 0, '', '..', 'a/b', '%2e%2e', `ord-1\r\nx: y`, {}];

const ROWS: Row[] = [
  { seen: 'a whole response', faults: [], ...BOUGHT },

  ...[400, 402, 413, 415, 422].flatMap((status): Row[] => [
    row(`${status}`, 'before', { type: 'answer', status }, REJECTED),
    row(`${status}, and bought all the same`, 'after', { type: 'answer', status }, BOUGHT),
  ]),
  ...[401, 403, 404, 405].map((status) =>
    row(`${status} once, for a key or a prefix of ours`, 'before', { type: 'answer', status }, AGAIN),
  ),
  row('401, and bought all the same', 'after', { type: 'answer', status: 401 }, BOUGHT),
  row('409 with the order there', 'after', { type: 'answer', status: 409 }, BOUGHT),
  row('409 without an order', 'before', { type: 'answer', status: 409 }, REJECTED),
  // The first order may still appear and be the reason why the second is refused.
  ...[402, 409, 422].map((status): Row => ({
    seen: `${status} after an error that may have booked`,
    faults: [
      { operation: 'place', action: { type: 'answer', status: 500 } },
      { operation: 'place', nth: 2, action: { type: 'answer', status } },
    ],
    ...HELD,
    requests: 2,
  })),

  ...ERROR_RESPONSE.flatMap(([seen, action]) => [
    row(`${seen}, and not bought`, 'before', action, AGAIN),
    row(`${seen}, and bought`, 'after', action, BOUGHT),
  ]),
  ...BROKEN.flatMap(([seen, action]) => [
    row(`${seen}, and not bought`, 'before', action, HELD),
    row(`${seen}, and bought`, 'after', action, BOUGHT),
  ]),
  ...UNUSABLE_IDS.map((id) =>
    row(`a response with the id ${JSON.stringify(id)}`, 'after', { type: 'merge', data: { id } }, BOUGHT),
  ),
];

describe('the responses to place-order, when an absent order may be placed again after a response', () => {
  // Many run at once: a late search on a busy machine must not use up the time in which the history must be readable.
  const env = sharedEnvironment({
    pastOrders: 5,
    settings: { partnerTimeoutMs: 5_000, confirmWindowMs: 3_000 },
  });
  const runs = new Map<string, Promise<PurchaseRun>>();

  beforeAll(async () => {
    await inParallel(ROWS, AT_ONCE, async ({ seen, faults }) => {
      const run = runPurchase(env, faults);
      runs.set(seen, run);
      await Promise.allSettled([run]);
    });
  });

  it.each(ROWS)('$seen: ends $state with $orderCount orders after $requests requests', async (expected) => {
    const { seen, state, orderCount, requests } = expected;
    const purchase = await runs.get(seen);
    expect(purchase).toMatchObject({ state, orderCount, requests });
    expect(purchase?.received).toEqual(purchase?.issued);
  });

  it('adopts the found order under the id that the partner gave it', async () => {
    const purchase = await runs.get('no response at all, and bought');
    expect(purchase?.status.result?.orderId).toBe(purchase?.orders[0]?.id);
  });

  it('is held as PLACEMENT_UNKNOWN with the decisions that fit', async () => {
    const purchase = await runs.get('a reset, and not bought');
    const decisions = ['order', 'replace', 'abandon'];
    expect(purchase?.status.hold).toMatchObject({ reason: 'PLACEMENT_UNKNOWN', decisions });
    expect(purchase?.events.map(({ type }) => type)).toEqual(['purchase.held']);
  });

  it('says that an earlier request may have placed the order if it is held after a rejection', async () => {
    const purchase = await runs.get('422 after an error that may have booked');
    expect(purchase?.status.hold?.explanation).toMatch(
      /^an earlier request may have placed the order; then the partner returned 422, .*and the order history shows no order$/,
    );
  });

  it('rejects after one search, but after a 409 only when it has searched through the whole confirmation window', async () => {
    const [refused, conflicting] = [await runs.get('422'), await runs.get('409 without an order')];
    expect(searchesFor(env, refused!.referenceId)).toBe(2);
    expect(searchesFor(env, conflicting!.referenceId)).toBeGreaterThan(2);
  });
});

function row(seen: string, when: 'before' | 'after', action: Action, rest: Omit<Row, 'seen' | 'faults'>): Row {
  return { seen, faults: [{ operation: 'place', when, action }], ...rest };
}
