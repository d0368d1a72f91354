import { partitionByEvent } from '../../../src/domain/already-delivered';

const line = (...fingerprints: string[]) => ({ productId: 'p', quantity: fingerprints.length, fingerprints });
const event = (received: boolean, ...fingerprints: string[]) => ({ received, fingerprints });

describe('a key stays in the event in which it went out first', () => {
  it('puts every key into a new event where nothing was sent before', () => {
    const rest = [line('a', 'b')];
    expect(partitionByEvent(rest, [])).toEqual({ repeat: [], rest, nothingSent: true, isKeyGone: false });
  });

  it('repeats the same event and makes no other, received or not', () => {
    for (const received of [true, false]) {
      const before = event(received, 'b', 'a');
      const same = { repeat: [before], rest: [], nothingSent: false, isKeyGone: false };
      expect(partitionByEvent([line('a', 'b')], [before])).toEqual(same);
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

  it.each([
    // the order, what was sent before; what goes out anew, and whether a person must decide first
    ['ac', [event(false, 'a', 'b')], 'ac', true],
    ['c', [event(false, 'a', 'b')], 'c', true],
    ['', [event(false, 'a', 'b')], '', true],
    ['bd', [event(false, 'a'), event(false, 'b')], 'd', true],
    // A person has decided before: what was left of the first event went out in the second.
    ['ac', [event(false, 'a', 'b'), event(true, 'a', 'c')], '', false],
    ['acd', [event(false, 'a', 'b'), event(true, 'a', 'c')], 'd', false],
    ['acd', [event(false, 'a', 'b'), event(false, 'a', 'c')], 'd', false],
    ['xy', [event(false, 'a', 'b'), event(true, 'x', 'y')], '', false],
    // And again, where the second can't be repeated either.
    ['ad', [event(false, 'a', 'b'), event(false, 'a', 'c')], 'ad', true],
    ['ab', [event(true, 'a'), event(false, 'a')], 'b', false],
  ])('of an order of "%s", after %j, "%s" is new; a person decides: %s', (keys, before, fresh, isKeyGone) => {
    const partition = partitionByEvent([line(...keys.split(''))], before);
    expect(partition.rest.flatMap(({ fingerprints }) => fingerprints).join('')).toBe(fresh);
    expect(partition.isKeyGone).toBe(isKeyGone);
  });

  it('counts a key that an order holds twice as two', () => {
    const { rest } = partitionByEvent([line('a', 'a')], [event(true, 'a')]);
    expect(rest.map(({ fingerprints }) => fingerprints)).toEqual([['a']]);
  });
});
