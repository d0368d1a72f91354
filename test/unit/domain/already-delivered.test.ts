import { partitionByEvent } from '../../../src/domain/already-delivered';

const line = (...fingerprints: string[]) => ({ productId: 'p', quantity: fingerprints.length, fingerprints });
const event = (received: boolean, ...fingerprints: string[]) => ({ received, fingerprints });

describe('a key stays in the event in which it went out first', () => {
  it('is all new where nothing went out before', () => {
    expect(partitionByEvent([line('a', 'b')], [])).toEqual({ repeat: [], rest: [line('a', 'b')], nothingSent: true });
  });

  it('repeats the same event and makes no other, received or not', () => {
    for (const received of [true, false]) {
      const before = event(received, 'b', 'a');
      expect(partitionByEvent([line('a', 'b')], [before])).toEqual({ repeat: [before], rest: [], nothingSent: false });
    }
  });

  it('names only what is new of a fuller order', () => {
    const before = event(true, 'a');
    const { repeat, rest } = partitionByEvent([line('a', 'b')], [before]);
    expect(repeat).toEqual([before]);
    expect(rest.map(({ fingerprints }) => fingerprints)).toEqual([['b']]);
  });

  it('hands over no key again of an event that arrived, though others of its keys have gone', () => {
    const { repeat, rest, nothingSent } = partitionByEvent([line('a', 'c')], [event(true, 'a', 'b')]);
    expect({ repeat, nothingSent }).toEqual({ repeat: [], nothingSent: false });
    expect(rest.map(({ fingerprints }) => fingerprints)).toEqual([['c']]);
  });

  it('hands over anew what was only in an event that never arrived and can not be made whole again', () => {
    const whole = event(true, 'a', 'c');
    expect(partitionByEvent([line('a', 'c')], [event(false, 'a', 'b'), whole])).toEqual({
      ...{ repeat: [whole], rest: [], nothingSent: false },
    });
    expect(partitionByEvent([line('a', 'c')], [event(false, 'a', 'b')]).nothingSent).toBe(true);
  });

  it('takes a key that stands twice in an order twice', () => {
    const { rest } = partitionByEvent([line('a', 'a')], [event(true, 'a')]);
    expect(rest.map(({ fingerprints }) => fingerprints)).toEqual([['a']]);
  });
});
