import type { World } from '../../support/world';
import { play, seen, startPartnerWorld, type Trouble, until, untilTold } from './play';

describe('the good case', () => {
  let world: World;

  beforeEach(async () => {
    world = await startPartnerWorld();
  });
  afterEach(() => world.close());

  it('costs one search and one order, one look and one reading of the keys, and no activity more', async () => {
    const { state, referenceId } = await play(world);

    expect(state).toBe('DELIVERED');
    expect(world.sandbox.requests()).toMatchObject({ place: 1, orders: 1, keys: 2, products: 0, unknown: 0 });
    const operations = world.sandbox.log().map(({ operation }) => operation);
    expect(operations.indexOf('orders')).toBeLessThan(operations.indexOf('place'));
    const { events } = await world.client.workflow.getHandle(`purchase-${referenceId}`).fetchHistory();
    const activities = (events ?? []).flatMap(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
    );
    expect(activities).toEqual(['placeOrder', 'awaitOrderChange', 'deliverEvent']);
  });

  it('is not stopped by the purchases of others that can come to no end', async () => {
    const always = { times: 'always' } as const;
    const poisons: Trouble[] = [
      { operation: 'orders', ...always, action: { type: 'body', text: '{"details":' } },
      { operation: 'orders', ...always, action: { type: 'hang' } },
      { operation: 'place', ...always, action: { type: 'answer', status: 401 } },
      { operation: 'place', ...always, when: 'after', action: { type: 'merge', data: { id: '\u0000' } } },
    ];
    const poisoned = poisons.map((trouble) => {
      const referenceId = world.reference('POISON');
      world.sandbox.addFault({ ...trouble, referenceId });
      return world.buy({ 'demo-never': 1 }, referenceId);
    });
    await Promise.all(poisoned);
    await until(() => world.sandbox.requests().orders >= poisons.length);
    const references = await Promise.all([1, 2, 3, 4, 5].map(() => world.buy({ 'demo-instant': 1 })));
    await Promise.all(references.map((reference) => untilTold(world, reference)));

    for (const reference of references) expect(await seen(world, reference)).toMatchObject({ state: 'DELIVERED' });
    for (const reference of await Promise.all(poisoned)) {
      expect(await seen(world, reference)).toMatchObject({ status: { execution: 'RUNNING' } });
    }
  });
});
