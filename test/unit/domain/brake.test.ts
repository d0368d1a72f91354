import {
  effectOfLetThrough,
  type FailedPlacement,
  nextRow,
  nextToLetThrough,
  type PlacementSign,
  reasonToClose,
} from '../../../src/domain/brake';

describe('the brake closes', () => {
  it.each<[string, [string, PlacementSign][], string | undefined]>([
    ['not for four purchases in a row', failing(4, 'UNKNOWN'), undefined],
    ['for five', failing(5, 'UNKNOWN'), 'UNKNOWN'],
    [
      'for five of whatever kind, with the reason of the last',
      [...failing(4, 'UNKNOWN'), ['Z', 'UNREACHABLE']],
      'UNREACHABLE',
    ],
    [
      'not for five with a good one among them',
      [...failing(4, 'UNKNOWN'), ['Z', 'GOOD'], ...failing(4, 'UNKNOWN', 'S')],
      undefined,
    ],
    [
      'for five, although one among them showed nothing',
      [...failing(4, 'UNKNOWN'), ['Z', 'NOTHING'], ['Y', 'UNKNOWN']],
      'UNKNOWN',
    ],
    ['not for one purchase, however often it fails', Array.from({ length: 20 }, () => ['A', 'UNKNOWN']), undefined],
    [
      'not for one that lacks the balance: it may be too large',
      [
        ['A', 'NO_BALANCE'],
        ['A', 'NO_BALANCE'],
      ],
      undefined,
    ],
    [
      'for two without a balance',
      [
        ['A', 'NO_BALANCE'],
        ['B', 'NO_BALANCE'],
      ],
      'NO_BALANCE',
    ],
    [
      'for two without a balance, although an order between them was refused for its own sake',
      [
        ['A', 'NO_BALANCE'],
        ['Z', 'REFUSED'],
        ['B', 'NO_BALANCE'],
      ],
      'NO_BALANCE',
    ],
    ['not for nine orders that are refused, as a product that is sold out is', failing(9, 'REFUSED'), undefined],
    ['for ten: the partner refuses all', failing(10, 'REFUSED'), 'REFUSED'],
    ['not for one that is refused ten times', Array.from({ length: 20 }, () => ['A', 'REFUSED']), undefined],
    [
      'not for ten with a good one among them',
      [...failing(9, 'REFUSED'), ['Z', 'GOOD'], ...failing(9, 'REFUSED', 'S')],
      undefined,
    ],
    [
      'for five that fail, although others are refused: those show no partner that works',
      [...failing(4, 'UNKNOWN'), ['Z', 'REFUSED'], ['Y', 'UNKNOWN']],
      'UNKNOWN',
    ],
    ['not for four that fail and nine that are refused', mixed(4, 9), undefined],
  ])('%s', (_, placements, reason) => {
    expect(reasonToClose(rowOf(placements))).toBe(reason);
  });
});

describe('a purchase that was let through', () => {
  it.each<[string, PlacementSign | undefined, [string, PlacementSign][], string]>([
    ['opens the brake when it goes well', 'GOOD', failing(5, 'UNKNOWN'), 'OPENS'],
    ['keeps it closed when it fails', 'UNKNOWN', failing(5, 'UNKNOWN'), 'FAILS'],
    ['keeps it closed when nothing is heard of it', undefined, failing(5, 'UNKNOWN'), 'FAILS'],
    ['changes nothing when it shows nothing', 'NOTHING', failing(5, 'UNKNOWN'), 'NONE'],
    ['changes nothing when its order is refused', 'REFUSED', [...failing(5, 'UNKNOWN'), ['Z', 'REFUSED']], 'NONE'],
    ['keeps it closed when it is the tenth that is refused', 'REFUSED', failing(10, 'REFUSED'), 'FAILS'],
    ['keeps it closed when it is refused after five that failed and nine refused', 'REFUSED', mixed(5, 10), 'FAILS'],
  ])('%s', (_, sign, placements, effect) => {
    expect(effectOfLetThrough(sign, rowOf(placements))).toBe(effect);
  });

  it.each([
    ['is the newest', ['C', 'B', 'A'], [], 'C'],
    ['is one that did not fail yet, however old', ['C', 'B', 'A'], ['B', 'C'], 'A'],
    ['is the one whose turn is longest ago, where all have had one', ['C', 'B', 'A'], ['B', 'C', 'A'], 'B'],
    ['is nobody, where nobody waits', [], ['A'], undefined],
  ])('%s', (_, newestFirst, tried, next) => {
    expect(nextToLetThrough(newestFirst, tried)).toBe(next);
  });
});

function rowOf(placements: readonly [string, PlacementSign][]): FailedPlacement[] {
  let row: FailedPlacement[] = [];
  for (const [referenceId, sign] of placements) row = nextRow(row, { referenceId, sign });
  return row;
}

/** So many that fail, and between them so many that are refused. */
function mixed(failed: number, refused: number): [string, PlacementSign][] {
  const others = failing(refused, 'REFUSED', 'S');
  return [...others.slice(1), ...failing(failed, 'UNKNOWN'), ...others.slice(0, 1)];
}

function failing(count: number, sign: PlacementSign, name = 'R'): [string, PlacementSign][] {
  return Array.from({ length: count }, (_, index) => [`${name}-${index}`, sign]);
}
