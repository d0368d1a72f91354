import { setImmediate } from 'node:timers/promises';
import { createSerialQueue } from '../../../src/activities/record-intention';

const PATIENT = 60_000;

describe('the intention records of a process', () => {
  it('are written in the order of the calls, and a failed one does not block the next', async () => {
    const inSequence = createSerialQueue();
    const begun: number[] = [];
    const record = async (number: number) => {
      begun.push(number);
      await setImmediate();
      if (number === 2) throw new Error('refused');
      return number;
    };
    const ends = await Promise.allSettled([1, 2, 3].map((number) => inSequence(PATIENT, () => record(number))));

    expect(begun).toEqual([1, 2, 3]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it.each([
    ['give the previous placement time to write its request', 2, false],
    ['give no such time if too many are waiting', 60, true],
  ])('%s', async (_, calls, isAtOnce) => {
    const inSequence = createSerialQueue();
    let begun = 0;
    const records = Array.from({ length: calls }, () => inSequence(PATIENT, async () => void (begun += 1)));
    await records[0];
    await setImmediate();

    expect(begun > 1).toBe(isAtOnce);
    await Promise.all(records);
    expect(begun).toBe(calls);
  });

  it('are skipped if they cannot start in time, but later ones never overtake the earlier ones', async () => {
    const inSequence = createSerialQueue();
    const order: string[] = [];
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const slow = inSequence(PATIENT, () => answered.then(() => order.push('slow')));
    const impatient = inSequence(1, async () => order.push('impatient'));
    const behind = inSequence(PATIENT, async () => order.push('behind'));

    expect(await impatient).toBeUndefined();
    await setImmediate();
    expect(order).toEqual([]);
    answer();
    await Promise.all([slow, behind]);
    expect(order).toEqual(['slow', 'behind']);
  });
});
