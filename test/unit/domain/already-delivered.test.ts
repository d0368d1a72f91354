import { partitionByEvent } from '../../../src/domain/already-delivered';

const line = (...fingerprints: string[]) => ({ productId: 'p', quantity: fingerprints.length, fingerprints });
const event = (received: boolean, ...fingerprints: string[]) => ({ received, fingerprints });

describe('a key stays in the event in which it went out first', () => {
  it('puts every key into a new event where nothing was sent before', () => {
    expect(partitionByEvent([line('a', 'b')], [])).toEqual({ repeat: [], rest: [line('a', 'b')], nothingSent: true });
  });

  it('repeats the same event and makes no other, received or not', () => {
    for (const received of [true, false]) {
      const before = event(received, 'b', 'a');
      expect(partitionByEvent([line('a', 'b')], [before])).toEqual({ repeat: [before], rest: [], nothingSent: false });
    }
  });

  it('puts only the new keys of a fuller order into a new event', () => {
    const before = event(true, 'a');
    const { repeat, rest } = partitionByEvent([line('a', 'b')], [before]);
    expect(repeat).toEqual([before]);
    expect(rest.map(({ fingerprints }) => fingerprints)).toEqual([['b']]);
  });

  it('hands over no key of a received event again, even when others of its keys are gone', () => {
    const { repeat, rest, nothingSent } = partitionByEvent([line('a', 'c')], [event(true, 'a', 'b')]);
    expect({ repeat, nothingSent }).toEqual({ repeat: [], nothingSent: false });
    expect(rest.map(({ fingerprints }) => fingerprints)).toEqual([['c']]);
  });

  it('hands over in a new event what was only in an unreceived event that can not be repeated completely', () => {
    const received = event(true, 'a', 'c');
    expect(partitionByEvent([line('a', 'c')], [event(false, 'a', 'b'), received])).toEqual({
      repeat: [received],
      rest: [],
      nothingSent: false,
    });
    expect(partitionByEvent([line('a', 'c')], [event(false, 'a', 'b')]).nothingSent).toBe(true);
  });

  it('counts a key that an order holds twice as two', () => {
    const { rest } = partitionByEvent([line('a', 'a')], [event(true, 'a')]);
    expect(rest.map(({ fingerprints }) => fingerprints)).toEqual([['a']]);
  });
});
