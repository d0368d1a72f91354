import type { World } from '../../support/world';
import { INSTANT, keysOf, play, seen, startPartnerWorld, type Trouble, until, untilTold } from './play';

const UNREADABLE: Trouble = { operation: 'orders', times: 'always', action: { type: 'answer', status: 503 } };

describe('a cancel ends a purchase only where surely nothing was bought', () => {
  let world: World;

  beforeAll(async () => {
    world = await startPartnerWorld({ settings: { settleMs: 4_000 } });
  });
  afterAll(() => world.close());

  it('ends CANCELLED before anything was sent, and then nothing is', async () => {
    const referenceId = await start(world, [UNREADABLE]);
    await until(() => world.sandbox.log().some(({ path }) => path.includes(`query=${referenceId}&`)));
    await cancel(world, referenceId);
    await untilTold(world, referenceId);

    const purchase = await seen(world, referenceId);
    expect(purchase).toMatchObject({ state: 'CANCELLED', requests: 0, orders: [] });
    expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.cancelled']);
  });

  it('settles an unknown outcome first, then ends without asking a person, and never places again', async () => {
    const unknown: Trouble['action'][] = [{ type: 'answer', status: 500 }, { type: 'reset' }];
    const references = await Promise.all(unknown.map((action) => start(world, [{ operation: 'place', action }])));
    for (const reference of references) {
      await world.untilState(reference, 'UNCONFIRMED');
      await cancel(world, reference);
    }
    await Promise.all(references.map((reference) => untilTold(world, reference)));

    for (const purchase of await Promise.all(references.map((reference) => seen(world, reference)))) {
      expect(purchase).toMatchObject({ state: 'CANCELLED', requests: 1, orders: [] });
      expect(purchase.events.map(({ type }) => type)).toEqual(['purchase.cancelled']);
    }
  });

  it('sees the order through when the settling finds one, cancel or not', async () => {
    world.sandbox.settings({ historyLagRequests: 1_000 });
    const referenceId = await start(world, [{ operation: 'place', when: 'after', action: { type: 'reset' } }]);
    await world.untilState(referenceId, 'UNCONFIRMED');
    await cancel(world, referenceId);
    world.sandbox.settings({ historyLagRequests: 0 });
    await untilTold(world, referenceId);

    await expectSeenThrough(world, referenceId);
  });

  it('sees the order through when it was placed before the cancel', async () => {
    const referenceId = await start(world, [], { 'demo-slow': 2 });
    await world.untilState(referenceId, 'PENDING');
    await cancel(world, referenceId);
    world.sandbox.advance(21 * 60_000);
    await untilTold(world, referenceId);

    await expectSeenThrough(world, referenceId);
  });
});

describe('a cancel of a purchase that is held because its placement is unknown', () => {
  let world: World;

  beforeAll(async () => {
    world = await startPartnerWorld({ settings: { settleMs: 200 } });
  });
  afterAll(() => world.close());

  it('ends it when the order is shown to be absent', async () => {
    const { referenceId, state } = await play(world, [{ operation: 'place', action: { type: 'reset' } }]);
    expect(state).toBe('HELD');
    await cancel(world, referenceId);

    expect(await world.starter.result(referenceId)).toMatchObject({ outcome: 'CANCELLED' });
    expect(world.sandbox.placeRequestsOf(referenceId)).toBe(1);
  });

  it('looks once more, and sees through an order that came while it was held', async () => {
    const { referenceId } = await play(world, [{ operation: 'place', action: { type: 'reset' } }]);
    const order = await world.sandbox.placeManualOrder({ referenceId, items: [{ id: 'demo-instant', quantity: 2 }] });
    await cancel(world, referenceId);

    expect(await world.starter.result(referenceId)).toMatchObject({
      outcome: 'DELIVERED',
      orderId: order.id,
      cancelRequested: true,
    });
  });

  it('does not end it when the history could not be read, because an order may well be there', async () => {
    const { referenceId, state } = await play(world, [
      { operation: 'place', when: 'after', action: { type: 'reset' } },
      { operation: 'orders', nth: 2, times: 'always', action: { type: 'answer', status: 503 } },
    ]);
    expect(state).toBe('HELD');
    await cancel(world, referenceId);
    await until(() => cancelWasTaken(world, referenceId));

    expect(await seen(world, referenceId)).toMatchObject({ state: 'HELD', requests: 1, received: [] });
  });
});

async function start(
  world: World,
  troubles: readonly Trouble[],
  items: Record<string, number> = INSTANT,
): Promise<string> {
  const referenceId = world.reference();
  for (const trouble of troubles) world.sandbox.addFault({ ...trouble, referenceId });
  return world.buy(items, referenceId);
}

async function cancel(world: World, referenceId: string): Promise<void> {
  await world.client.workflow.getHandle(`purchase-${referenceId}`).cancel();
}

async function expectSeenThrough(world: World, referenceId: string): Promise<void> {
  const purchase = await seen(world, referenceId);
  expect(purchase).toMatchObject({ state: 'DELIVERED', requests: 1, status: { result: { cancelRequested: true } } });
  expect(purchase.received.toSorted()).toEqual(keysOf(purchase.orders).toSorted());
  expect(purchase.received).toHaveLength(2);
}

/** Whether the workflow has had its say since the cancel arrived. */
async function cancelWasTaken(world: World, referenceId: string): Promise<boolean> {
  const { events } = await world.client.workflow.getHandle(`purchase-${referenceId}`).fetchHistory();
  const at = (events ?? []).findIndex((event) => event.workflowExecutionCancelRequestedEventAttributes);
  return at >= 0 && (events ?? []).slice(at).some((event) => event.workflowTaskCompletedEventAttributes);
}
