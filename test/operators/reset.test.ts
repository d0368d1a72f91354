import { startWorld, type World } from '../support/world';
import { handsOn, idsWithOtherKeys, judge } from './hands';

describe('a purchase that someone resets', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld({ sandbox: { perLookMs: 30_000 } });
    world.sandbox.addPast({ count: 3 });
  });
  afterAll(() => world.close());
  afterEach(() => expect(idsWithOtherKeys(world)).toEqual([]));

  it.concurrent.each([
    ['demo-instant', 2],
    ['demo-seconds', 1],
    ['demo-partial', 4],
    ['demo-refunded', 1],
    ['demo-out-of-stock', 1],
  ] as const)(
    '%s × %i, reset to each of its points after its end, ends the same and buys and delivers nothing twice',
    async (product, quantity) => {
      const result = await world.bought({ [product]: quantity });
      const hands = handsOn(world, result.referenceId);
      const [runId, points] = [(await world.starter.status(result.referenceId)).runId, await hands.points()];
      const before = await judge(world, result.referenceId);
      expect(points.length).toBeGreaterThan(3);

      for (const point of points) {
        await hands.reset(point, runId);
        const again = await hands.result();
        expect({ point, outcome: again.outcome, order: again.orderId }).toEqual({
          ...{ point, outcome: result.outcome, order: result.orderId },
        });
        expect(await judge(world, result.referenceId)).toEqual({ ...before, sent: expect.any(Number) });
        expect(await hands.brokenTasks()).toEqual([]);
      }
      const { sent } = await judge(world, result.referenceId);
      expect(sent).toBe(before.sent);
    },
    120_000,
  );
});
