import { indexRecords, reconcile } from '../../../../src/domain/reconciliation/index';
import { NIGHT, order, purchase } from './generated-records';

const NOTHING = { delivered: 0, keyIds: {} };
const STATUSES = ['COMPLETED', 'PARTIAL_COMPLETED', 'REFUNDED', 'FAILED', 'PROCESSING'];

/** What is found about a purchase that ended so, and its order in this status by now. */
function findingsOf(status: string, changes: object, shown: object = {}) {
  const records = indexRecords(
    [order('1', { status, amount: undefined, ...shown })],
    [purchase('1', { totalDebit: undefined, ...changes })],
  );
  return reconcile(records, NIGHT);
}

const MISMATCH = 'STATUS_MISMATCH';
const NOTIFIED = 'STATUS_MISMATCH notify';
const AFTER_ALL = 'UNDELIVERED notify';
const nothingBought = [AFTER_ALL, AFTER_ALL, '-', '-', NOTIFIED];

/** A part was delivered, by the purchase or after it: more keys of it are looked for each night. */
const SHORTFALL = [
  'SHORTFALL_FILLED deliver',
  'UNDELIVERED deliver',
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
      ['LATE deliver', 'LATE deliver', 'STATUS_MISMATCH notify-refund', NOTIFIED, 'STUCK'],
    ],
    ['OVERDUE, a part by now', { state: 'OVERDUE', delivered: 1 }, SHORTFALL],
    ['OVERDUE, all of it by now', { state: 'OVERDUE', delivered: 2 }, WHOLE],
    [
      'terminated',
      { execution: 'TERMINATED', state: 'PENDING', ...NOTHING },
      ['LOST deliver', 'LOST deliver', 'STATUS_MISMATCH notify-refund', NOTIFIED, 'LOST'],
    ],
    ['terminated, a part by now', { execution: 'TERMINATED', state: 'PENDING', delivered: 1 }, SHORTFALL],
    ['REFUNDED', { state: 'REFUNDED', ...NOTHING }, [NOTIFIED, NOTIFIED, '-', MISMATCH, MISMATCH]],
    ['FAILED', { state: 'FAILED', ...NOTHING }, [NOTIFIED, NOTIFIED, MISMATCH, '-', MISMATCH]],
    ['REJECTED', { state: 'REJECTED', ...NOTHING }, nothingBought],
    ['NOT_PLACED', { state: 'NOT_PLACED', ...NOTHING }, nothingBought],
    ['CANCELLED', { state: 'CANCELLED', ...NOTHING }, nothingBought],
    ['ABANDONED', { state: 'ABANDONED', ...NOTHING }, ['UNDELIVERED', 'UNDELIVERED', '-', '-', 'STUCK']],
  ])('%s', (_, changes, expected) => {
    const inBrief = STATUSES.map((status) => {
      const [finding] = findingsOf(status, changes);
      return finding ? [finding.kind, finding.repair].filter(Boolean).join(' ') : '-';
    });
    expect(inBrief).toEqual(expected);
  });
});

it.each([
  ['that was overdue', { state: 'OVERDUE' }, 'sell again under a new reference'],
  [
    'that was overdue, if a later delivery failed',
    { state: 'OVERDUE', mayBeDelivered: true },
    'may have reached the checkout',
  ],
  ['that was stopped', { execution: 'TERMINATED', state: 'DELIVERING' }, 'may have reached the checkout'],
])(
  'a purchase %s and costs nothing any more is sold again only if surely nothing was delivered',
  (_, ended, advice) => {
    for (const status of ['REFUNDED', 'FAILED']) {
      expect(findingsOf(status, { ...NOTHING, ...ended })[0]?.advice).toContain(advice);
    }
  },
);

it('delivered keys that left an order are reported while it has keys to deliver, next to what else is wrong, and never if none is gone', () => {
  const kindsOf = (status: string, keysGone?: number) =>
    findingsOf(status, { state: 'PARTIALLY_DELIVERED', delivered: 1 }, { keysGone }).map(({ kind }) => kind);
  expect(kindsOf('COMPLETED', 2)).toEqual(['KEYS_GONE', 'SHORTFALL_FILLED']);
  expect(kindsOf('PARTIAL_COMPLETED', 1)).toEqual(['UNDELIVERED', 'KEYS_GONE']);
  expect([kindsOf('REFUNDED', 1), kindsOf('COMPLETED', 0), kindsOf('COMPLETED')].flat()).not.toContain('KEYS_GONE');
  expect(findingsOf('COMPLETED', {}, { keysGone: 2 })).toMatchObject([
    { repair: 'notify', explanation: '2 of the keys that were delivered are no longer in the order.' },
  ]);
});
