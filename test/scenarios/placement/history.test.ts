import type { World } from '../../support/world';
import { INSTANT, keysOf, play, type Played, startPartnerWorld, type Trouble } from './play';

const LOST: Trouble = { operation: 'place', when: 'after', action: { type: 'reset' } };
const NOT_BOUGHT: Trouble = { operation: 'place', action: { type: 'answer', status: 500 } };

describe('the order history is the witness of a lost answer', () => {
  let world: World;

  beforeAll(async () => {
    world = await startPartnerWorld({}, 1_100);
  });
  afterEach(() => world.sandbox.settings({ search: 'exact', historyOrder: 'newest', historyShift: 0 }));
  afterAll(() => world.close());

  it.each(['newest', 'oldest'] as const)(
    'finds the order by scanning where the search is ignored and the %s come first, and never sends a second one',
    async (historyOrder) => {
      world.sandbox.settings({ search: 'ignored', historyOrder, historyShift: 7 });
      const [lost, refused] = await Promise.all([play(world, [LOST]), play(world, [NOT_BOUGHT])]);

      expect(lost).toMatchObject({ state: 'DELIVERED', requests: 1 });
      expect(lost.received.toSorted()).toEqual(keysOf(lost.orders).toSorted());
      expect(refused).toMatchObject({ state: 'DELIVERED', requests: 2 });
      expect(refused.orders).toHaveLength(1);
    },
  );

  it('never adopts the order of another reference that a fuzzy search brings up', async () => {
    world.sandbox.settings({ search: 'fuzzy' });
    const reference = world.reference();
    const other = await play(world, [], INSTANT, `${reference}0`);
    const [ours, lost] = await Promise.all([
      play(world, [{ ...LOST, when: 'before' }], INSTANT, reference),
      play(world, [LOST]),
    ]);

    expect(ours).toMatchObject({ state: 'HELD', orders: [], received: [], requests: 1 });
    expect(lost).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(other.received.toSorted()).toEqual(keysOf(other.orders).toSorted());
  });
});

describe('an order that shows up late, but within the settling time', () => {
  let world: World;

  beforeAll(async () => {
    // Found orders end the settling, so that nothing here waits for all of it.
    world = await startPartnerWorld({ settings: { settleMs: 10_000 } });
  });
  afterAll(() => world.close());

  it('is waited for when the history lags, instead of being placed again', async () => {
    world.sandbox.settings({ historyLagRequests: 4 });
    const late = await play(world, [{ ...NOT_BOUGHT, when: 'after' }]);
    world.sandbox.settings({ historyLagRequests: 0 });

    expect(late).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(late.orders).toHaveLength(1);
  });

  it('is waited for when the partner books it only after the first looks', async () => {
    const late = await play(world, [{ ...NOT_BOUGHT, commit: { type: 'late', historyRequests: 4 } }]);

    expect(late).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(late.orders).toHaveLength(1);
  });
});

describe('a history that shows nothing absent leads to a hold and not to a second order', () => {
  const worlds: World[] = [];
  let unusable: Played;
  let broken: Played;
  let empty: Played;

  beforeAll(async () => {
    const settings = { settleMs: 200 };
    const [one, two, three] = await Promise.all([
      startPartnerWorld({ settings }),
      startPartnerWorld({ settings }),
      startPartnerWorld({ settings }, 0),
    ]);
    worlds.push(one, two, three);
    [unusable, broken, empty] = await Promise.all([
      playWithUnusableId(one),
      playWithBrokenSearch(two),
      play(three, [NOT_BOUGHT]),
    ]);
  });
  afterAll(() => Promise.all(worlds.map((world) => world.close())));

  it('because an order of this reference bears an id that could change a path: it exists, so none is sent', () => {
    expect(unusable).toMatchObject({ state: 'HELD', requests: 0, orders: [] });
    expect(unusable.status.hold?.explanation).toContain("under an id that can't be used");
  });

  it('because an order known to exist is not found by the same query', () => {
    expect(broken).toMatchObject({ state: 'HELD', requests: 1, orders: [] });
    expect(broken.status.hold?.explanation).toContain('does not find an order known to exist');
  });

  it('because it is empty, which proves nothing', () => {
    expect(empty).toMatchObject({ state: 'HELD', requests: 1, orders: [] });
    expect(empty.status.hold?.explanation).toContain('empty, which proves nothing');
  });
});

async function playWithUnusableId(world: World): Promise<Played> {
  const reference_id = world.reference();
  const orders = [{ id: '../../admin', reference_id, status: 'PENDING', created_at: '2026-01-01T00:00:00Z' }];
  const action = { type: 'merge', data: { hits: 1, orders } } as const;
  return play(world, [{ operation: 'orders', when: 'after', times: 'always', action }], INSTANT, reference_id);
}

async function playWithBrokenSearch(world: World): Promise<Played> {
  const nothing = { hits: 0, orders: [], pages: { page: 1, total: 0, limit: 500 } };
  for (const { referenceId } of (await world.partner.listOrders()).data.orders) {
    world.sandbox.addFault({
      ...{ operation: 'orders', when: 'after', times: 'always', referenceId },
      action: { type: 'merge', data: nothing },
    });
  }
  return play(world, [NOT_BOUGHT]);
}
