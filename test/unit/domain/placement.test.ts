import fc from 'fast-check';
import {
  chooseOrder,
  mayHaveSentRequest,
  orderMayExist,
  type Consequence,
  type AttemptEvidence,
  consequenceOf,
  type EvidenceWithoutOrder,
} from '../../../src/domain/placement';

const POLICIES = ['never', 'answered', 'always'] as const;
const HOLD = 'window, proven: hold';
const AGAIN = 'window, proven: attempt';

const always = (step: string) => [step, step, step];

const UNWRITTEN = ['window: hold', 'window: attempt', 'window: attempt'];

/** The next step under each policy of `PURCHASE_REPLACE`: never, answered, always. */
const TABLE: [EvidenceWithoutOrder, first: string[], afterAnotherThatMayHaveArrived: string[]][] = [
  ['NOT_SENT', always('attempt'), always('attempt')],
  ['PAUSED', always('attempt'), always('attempt')],
  ['OVER_MAX_DEBIT', always('NOT_PLACED'), always('NOT_PLACED')],
  ['ACCESS_DENIED', always('one: attempt'), always('one: attempt')],
  ['ORDER_REJECTED', always('one: REJECTED'), [HOLD, HOLD, AGAIN]],
  ['CONFLICT', always('window, proven: REJECTED'), always(HOLD)],
  ['ERROR_RESPONSE', [HOLD, AGAIN, AGAIN], [HOLD, AGAIN, AGAIN]],
  ['UNKNOWN', [HOLD, HOLD, AGAIN], [HOLD, HOLD, AGAIN]],
  ['FENCED', always(HOLD), always(HOLD)],
  ['NEVER_WRITTEN', UNWRITTEN, UNWRITTEN],
];

function summarize(step: Consequence): string {
  if (step.kind === 'end') return step.outcome;
  if (step.kind !== 'confirm') return step.kind;
  return `${step.searches}${step.needsProof ? ', proven' : ''}: ${summarize(step.ifAbsent)}`;
}

describe('the next step after an attempt that returned no order', () => {
  it.each(TABLE)('%s', (evidence, first, later) => {
    const steps = (orderMayExist: boolean) =>
      POLICIES.map((replace) => summarize(consequenceOf(evidence, { orderMayExist, replace })));
    expect([steps(false), steps(true)]).toEqual([first, later]);
  });

  it('only these kinds of evidence show that no request was sent', () => {
    const all = TABLE.map(([evidence]) => evidence);
    expect(all.filter((evidence) => !mayHaveSentRequest(evidence))).toEqual([
      'NOT_SENT',
      'PAUSED',
      'OVER_MAX_DEBIT',
      'NEVER_WRITTEN',
    ]);
  });

  it('the partner may have bought only after these four kinds of response', () => {
    const all: AttemptEvidence[] = ['PLACED', 'FOUND', ...TABLE.map(([evidence]) => evidence)];
    expect(all.filter(orderMayExist)).toEqual(['CONFLICT', 'ERROR_RESPONSE', 'UNKNOWN', 'FENCED']);
  });
});

test('several orders: the first that costs money is adopted, otherwise the first; only other orders that cost money are doubles', () => {
  const order = fc.record({
    id: fc.uuid(),
    status: fc.constantFrom('PENDING', 'COMPLETED', 'REFUNDED', 'FAILED', 'UNHEARD_OF'),
  });
  fc.assert(
    fc.property(fc.array(order, { minLength: 1, maxLength: 6 }), (orders) => {
      const [first, ...others] = orders;
      const { adopt, doubles } = chooseOrder([first!, ...others]);
      const costing = orders.filter(({ status }) => status !== 'REFUNDED' && status !== 'FAILED');
      const candidates = costing.length > 0 ? costing : orders;
      expect(adopt).toBe(candidates[0]);
      expect(new Set(doubles)).toEqual(new Set(costing.filter((one) => one !== adopt)));
    }),
  );
});
