import { setImmediate } from 'node:timers/promises';
import { createSequence } from '../../../src/activities/record-intent';

describe('the records of a process', () => {
  it('are made in the order of the calls, and one that fails holds up none', async () => {
    const inSequence = createSequence();
    const begun: number[] = [];
    const record = async (number: number) => {
      begun.push(number);
      await setImmediate();
      if (number === 2) throw new Error('refused');
      return number;
    };
    const ends = await Promise.allSettled([1, 2, 3].map((number) => inSequence(() => record(number))));

    expect(begun).toEqual([1, 2, 3]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('leave the one before time to write its request', async () => {
    const inSequence = createSequence();
    let hasBegun = false;
    const first = inSequence(async () => 1);
    const second = inSequence(async () => {
      hasBegun = true;
    });
    await first;
    await setImmediate();

    expect(hasBegun).toBe(false);
    await second;
    expect(hasBegun).toBe(true);
  });
});
