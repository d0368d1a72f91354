import { indexRecords, reconcile, restsOnMissingKeys } from '../../../../src/domain/reconciliation/index';
import { NIGHT, order, purchase } from './generated-records';

const NOTHING = { delivered: 0, fingerprints: {} };
const STATUSES = ['COMPLETED', 'PARTIAL_COMPLETED', 'REFUNDED', 'FAILED', 'PROCESSING'];

/** What is found of a purchase that ended in `state`, for each status that its order has by now. */
const found = (changes: object) =>
  STATUSES.map((status) => {
    const [finding] = reconcile(
      indexRecords([order('1', { status, amount: undefined })], [purchase('1', { totalDebit: undefined, ...changes })]),
      NIGHT,
    );
    return finding ? [finding.kind, finding.repair].filter(Boolean).join(' ') : '-';
  });

const MISMATCH = 'STATUS_MISMATCH';
const NOTIFIED = 'STATUS_MISMATCH notify-attention';
const AFTER_ALL = 'UNDELIVERED notify-attention';
const nothingBought = [AFTER_ALL, AFTER_ALL, '-', '-', NOTIFIED];

/** A part was handed over, by the purchase or after it: more keys of it are looked for each night. */
const SHORTFALL = [
  'SHORTFALL_FILLED deliver-late',
  'UNDELIVERED deliver-late',
  'SHORTFALL_REFUNDED notify-refund',
  MISMATCH,
  MISMATCH,
];
const WHOLE = ['-', MISMATCH, 'REFUNDED_AFTER_DELIVERY notify-refund', MISMATCH, MISMATCH];

describe('each end of a purchase against each later status of its order: complete, a part, refunded, failed, open', () => {
  it.each<[string, object, string[]]>([
    ['DELIVERED', { state: 'DELIVERED' }, WHOLE],
    ['PARTIALLY_DELIVERED', { state: 'PARTIALLY_DELIVERED', delivered: 1 }, SHORTFALL],
    ['PARTIALLY_DELIVERED, all of it by now', { state: 'PARTIALLY_DELIVERED', delivered: 2 }, WHOLE],
    ['PARTIALLY_DELIVERED of nothing', { state: 'PARTIALLY_DELIVERED', ...NOTHING }, SHORTFALL],
    [
      'OVERDUE',
      { state: 'OVERDUE', ...NOTHING },
      ['LATE deliver-late', 'LATE deliver-late', 'STATUS_MISMATCH notify-refund', NOTIFIED, 'STUCK'],
    ],
    ['OVERDUE, a part by now', { state: 'OVERDUE', delivered: 1 }, SHORTFALL],
    ['OVERDUE, all of it by now', { state: 'OVERDUE', delivered: 2 }, WHOLE],
    [
      'terminated',
      { execution: 'TERMINATED', state: 'PENDING', ...NOTHING },
      ['LOST deliver-late', 'LOST deliver-late', 'STATUS_MISMATCH notify-refund', NOTIFIED, 'LOST'],
    ],
    ['terminated, a part by now', { execution: 'TERMINATED', state: 'PENDING', delivered: 1 }, SHORTFALL],
    ['REFUNDED', { state: 'REFUNDED', ...NOTHING }, [NOTIFIED, NOTIFIED, '-', MISMATCH, MISMATCH]],
    ['FAILED', { state: 'FAILED', ...NOTHING }, [NOTIFIED, NOTIFIED, MISMATCH, '-', MISMATCH]],
    ['REJECTED', { state: 'REJECTED', ...NOTHING }, nothingBought],
    ['NOT_PLACED', { state: 'NOT_PLACED', ...NOTHING }, nothingBought],
    ['CANCELLED', { state: 'CANCELLED', ...NOTHING }, nothingBought],
    ['ABANDONED', { state: 'ABANDONED', ...NOTHING }, ['UNDELIVERED', 'UNDELIVERED', '-', '-', 'STUCK']],
  ])('%s', (_, changes, expected) => {
    expect(found(changes)).toEqual(expected);
  });
});

describe('a purchase that ended without a record of what was handed over, and its order that costs nothing any more', () => {
  const advice = (status: string, changes: object) => {
    const known = purchase('1', { totalDebit: undefined, ...NOTHING, ...changes });
    const [finding] = reconcile(indexRecords([order('1', { status, amount: undefined })], [known]), NIGHT);
    return finding && restsOnMissingKeys(finding, known) ? finding.advice : 'no question';
  };

  it.each([
    ['terminated', { execution: 'TERMINATED', state: 'DELIVERING' }],
    ['overdue', { state: 'OVERDUE' }],
  ])('is sold again only if surely nothing was handed over: %s', (_, ended) => {
    for (const status of ['REFUNDED', 'FAILED']) {
      expect(advice(status, ended)).toContain('sell again under a new reference');
      expect(advice(status, { ...ended, mayBeDelivered: true })).toContain('may have reached the checkout');
      expect(advice(status, { ...ended, delivered: 2, ordered: 2 })).toBe('no question');
    }
  });
});
