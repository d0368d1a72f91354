import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { inParallel } from '../../../src/activities/in-parallel';

it('does everything once, never more than `width` at a time, and returns the results in the order of the list', async () => {
  const durations = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(durations, fc.integer({ min: 1, max: 6 }), async (turns, width) => {
      let running = 0;
      let most = 0;
      const results = await inParallel([...turns.entries()], width, async ([index, count]) => {
        most = Math.max(most, ++running);
        for (let turn = 0; turn < count; turn++) await setImmediate();
        running -= 1;
        return index;
      });
      expect(results).toEqual(turns.map((_, index) => index));
      expect(most).toBe(Math.min(width, turns.length));
    }),
    { numRuns: 50 },
  );
});

it('starts nothing after a failure, and throws it only when the others have ended, so that a retry does not overlap them', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  let endOthers = (): void => undefined;
  const others = new Promise<void>((resolve) => (endOthers = resolve));
  const work = inParallel([0, 1, 2, 3, 4, 5], 3, async (one) => {
    begun.push(one);
    if (one === 1) throw new Error('it failed');
    await others;
    ended.push(one);
    if (one === 2) throw new Error('it failed later');
  });
  const failed = work.catch((error: Error) => [error.message, [...ended]]);
  await setImmediate();
  endOthers();
  expect(await failed).toEqual(['it failed', [0, 2]]);
  expect(begun).toEqual([0, 1, 2]);
});
