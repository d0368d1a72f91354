import { type FailedPlacement, nextRow, type PlacementSign, reasonToClose } from '../../../src/domain/brake';

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
  ])('%s', (_, placements, reason) => {
    let row: FailedPlacement[] = [];
    for (const [referenceId, sign] of placements) row = nextRow(row, { referenceId, sign });
    expect(reasonToClose(row)).toBe(reason);
  });
});

function failing(count: number, sign: PlacementSign, name = 'R'): [string, PlacementSign][] {
  return Array.from({ length: count }, (_, index) => [`${name}-${index}`, sign]);
}
