import type { World } from '../support/world';
import { startPartnerWorld, INSTANT, keysOf, play, type Trouble } from './play';

const LOST: Trouble = { operation: 'place', when: 'after', action: { type: 'reset' } };
const NOT_BOUGHT: Trouble = { operation: 'place', action: { type: 'answer', status: 500 } };

describe('the order history is the witness of a lost answer', () => {
  let world: World;

  beforeAll(async () => {
    world = await startPartnerWorld({ settings: { settleMs: 300 } }, 1_100);
  });
  afterEach(() =>
    world.sandbox.settings({ search: 'exact', historyOrder: 'newest', historyShift: 0, historyLagRequests: 0 }),
  );
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

  it('goes on looking when the order shows up late, instead of placing it again', async () => {
    world.sandbox.settings({ historyLagRequests: 2 });
    const late = await play(world, [{ operation: 'place', when: 'after', action: { type: 'answer', status: 500 } }]);

    expect(late).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(late.orders).toHaveLength(1);
  });

  it('adopts an order that the partner books only after the first looks', async () => {
    const commit = { type: 'late', historyRequests: 2 } as const;
    const late = await play(world, [{ ...NOT_BOUGHT, commit }]);

    expect(late).toMatchObject({ state: 'DELIVERED', requests: 1 });
    expect(late.orders).toHaveLength(1);
  });

  it('holds when an order of this reference bears an id that could change a path: it exists, so none is sent', async () => {
    const referenceId = world.reference();
    const orders = [
      { id: '../../admin', reference_id: referenceId, status: 'PENDING', created_at: '2026-01-01T00:00:00Z' },
    ];
    const action = { type: 'merge', data: { hits: 1, orders } } as const;
    const trouble: Trouble = { operation: 'orders', when: 'after', times: 'always', action };
    const held = await play(world, [trouble], INSTANT, referenceId);

    expect(held).toMatchObject({ state: 'HELD', requests: 0, orders: [] });
    expect(held.status.hold?.explanation).toContain("under an id that can't be used");
  });

  it('holds when a known order is not found by the same query, because then nothing is shown to be absent', async () => {
    const nothing = { hits: 0, orders: [], pages: { page: 1, total: 0, limit: 500 } };
    const known = (await world.partner.listOrders({ limit: 1 })).data.orders[0]?.referenceId;
    world.sandbox.addFault({
      ...{ operation: 'orders', when: 'after', times: 'always', referenceId: known },
      action: { type: 'merge', data: nothing },
    });
    const held = await play(world, [NOT_BOUGHT]);
    world.sandbox.clearFaults();

    expect(held).toMatchObject({ state: 'HELD', requests: 1, orders: [] });
  });
});

describe('an order history that shows nothing at all', () => {
  it('proves nothing, so that even an error answer leads to a hold and not to a second order', async () => {
    const world = await startPartnerWorld({ settings: { settleMs: 300 } }, 0);
    try {
      const held = await play(world, [NOT_BOUGHT]);
      expect(held).toMatchObject({ state: 'HELD', requests: 1, orders: [] });
      expect(held.status.hold?.explanation).toContain('empty, which proves nothing');
    } finally {
      await world.close();
    }
  });
});
