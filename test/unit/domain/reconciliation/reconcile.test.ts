import fc from 'fast-check';
import {
  type PartnerOrder,
  type Finding,
  FINDING_KINDS,
  findingKey,
  reconcile,
  KIND_DOCS,
  type KnownPurchase,
  withKeysMissing,
} from '../../../../src/domain/reconciliation/index';
import { hoursAgo, inBrief, NIGHT, order, plant, PLANTS, purchase, WELL } from './generated-records';

const join = (orders: readonly PartnerOrder[], purchases: readonly KnownPurchase[]) =>
  reconcile(orders, purchases, NIGHT);

describe('the join of two books', () => {
  it.each(Object.entries(PLANTS))('finds %s, once and as nothing else', (_, situation) => {
    const { orders, purchases, expected } = plant([situation], 1);
    expect(join(orders, purchases).map(inBrief)).toEqual(expected.map(inBrief));
  });

  it.each(Object.entries(WELL))('finds nothing wrong with: %s', (_, situation) => {
    const { orders, purchases } = plant([situation], 1);
    expect(join(orders, purchases)).toEqual([]);
  });

  it('finds what is planted in 100,000 orders and purchases, every kind of it, and nothing else', () => {
    const mostlyWell = Array.from({ length: 20 }, () => Object.values(WELL)).flat();
    const { orders, purchases, expected } = plant([...Object.values(PLANTS), ...mostlyWell], 100_000);
    const found = join(orders, purchases);
    expect(new Set(found.map((finding) => finding.kind))).toEqual(new Set(FINDING_KINDS));
    expect(found.map(inBrief).toSorted()).toEqual(expected.map(inBrief).toSorted());
    expect(found.length).toBeGreaterThan(3_000);
  });

  it('gives the same list whatever order the books are in, worst kinds first', () => {
    const { orders, purchases } = plant([...Object.values(PLANTS), ...Object.values(WELL)], 200);
    const found = join(orders, purchases);
    const ranks = found.map((finding) => FINDING_KINDS.indexOf(finding.kind));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(shuffled(orders), shuffled(purchases), (someOrders, somePurchases) => {
        expect(join(someOrders, somePurchases)).toEqual(found);
      }),
      { numRuns: 20 },
    );
  });

  it('never groups orders without a reference: each is an orphan of its own', () => {
    const nameless = [undefined, undefined, ''].map((referenceId, i) => order(`n${i}`, { referenceId }));
    expect(join(nameless, []).map(inBrief)).toEqual(['ORPHAN none ord-n0', 'ORPHAN none ord-n1', 'ORPHAN none ord-n2']);
  });

  it('calls all but the first order of a held purchase a double, and tells it to adopt the first', () => {
    const [{ purchases }] = [plant([PLANTS['held here, found there']!], 1)];
    const second = order('second', { referenceId: 'REF-0', createdAt: hoursAgo(20) });
    const first = order('first', { referenceId: 'REF-0', createdAt: hoursAgo(25) });
    const found = join([second, first], purchases);
    expect(found.map(inBrief)).toEqual(['DOUBLE_PURCHASE REF-0 ord-first ord-second', 'LOST REF-0 ord-first']);
    expect(found.map((finding) => finding.repair)).toEqual(['notify-attention', 'adopt']);
    expect(found[0]?.amounts).toEqual({ history: 12.34, surplus: 12.34 });
  });

  it('does not adopt an order that another purchase names as its own', () => {
    const [{ purchases }] = [plant([PLANTS['held here, found there']!], 1)];
    const named = order('x', { referenceId: 'REF-0' });
    expect(join([named], [...purchases, purchase('x')])).toEqual([expect.objectContaining({ kind: 'STUCK' })]);
  });

  it('is not led astray by names that objects have, or by statuses that may hold anything', () => {
    const odd = ['__proto__', 'constructor', 'toString'].map((referenceId, i) =>
      order(`o${i}`, { referenceId, status: '1234-KEY-5678' }),
    );
    const found = join(odd, []);
    expect(found.map((finding) => finding.kind)).toEqual(['ORPHAN', 'ORPHAN', 'ORPHAN']);
    expect(JSON.stringify(found)).not.toContain('KEY-5678');
  });

  it('compares money in decimals: the noise of floating point is no difference, a tenth of a cent is one', () => {
    const amounts = (amount: number, totalDebit: number) =>
      join([order('m', { amount })], [purchase('m', { totalDebit })]).map((finding) => finding.kind);
    expect(amounts(0.1 + 0.2, 0.3)).toEqual([]);
    expect(amounts(1_000_000_000.1, 1_000_000_000.1)).toEqual([]);
    expect(amounts(0.301, 0.3)).toEqual(['AMOUNT_MISMATCH']);
  });

  it('names purchases that share keys once, however many keys and purchases those are', () => {
    const names = Array.from({ length: 50 }, (_, i) => String(i).padStart(2, '0'));
    const keys = { 'card-50': ['k.same-1', 'k.same-2'] };
    const found = join(
      names.map((name) => order(name)),
      names.map((name) => purchase(name, { fingerprints: keys })),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ kind: 'SAME_KEY_TWICE', referenceId: 'REF-00' });
    expect(found[0]?.explanation).toContain('2 keys were handed over in 50 purchases');
    expect(found[0]?.explanation).not.toContain('k.same');
  });

  it('does not call a key twice in one order, or the two runs of a reset, the same key in two purchases', () => {
    const twice = purchase('t', { fingerprints: { 'card-50': ['k.t', 'k.t'] } });
    const runs = [twice, { ...twice, runId: 'later', startedAt: hoursAgo(29) }];
    expect(join([order('t')], runs)).toEqual([]);
  });

  it('says what is wrong and what to do in plain words, whatever was found', () => {
    const { orders, purchases } = plant(Object.values(PLANTS), 100);
    for (const finding of join(orders, purchases)) {
      expect(finding.explanation).toMatch(/^[A-Z0-9].+\.$/);
      expect(finding.explanation).not.toMatch(/undefined|NaN|UNRECOGNISED|  /);
      expect(finding.advice).not.toMatch(/REFERENCE|ORDER\b|undefined/);
      expect(finding.advice.length).toBeGreaterThan(20);
    }
    for (const kind of FINDING_KINDS)
      expect(Object.values(KIND_DOCS[kind]).every((text) => text.length > 5)).toBe(true);
  });
});

describe('mending', () => {
  it('leaves nothing to mend: a second run on the mended books tells nobody anything and delivers nothing', () => {
    const { orders, purchases } = plant([...Object.values(PLANTS), ...Object.values(WELL)], 2_000);
    const first = join(orders, purchases);
    expect(new Set(first.flatMap(({ repair: mend }) => mend ?? []))).toEqual(
      new Set(['deliver-late', 'adopt', 'notify-refund', 'notify-attention']),
    );
    const second = join(orders, mended(orders, purchases, first));
    expect(second.filter(({ repair: mend }) => mend !== undefined)).toEqual([]);
    const delivered = first.filter(({ repair: mend }) => mend === 'deliver-late' || mend === 'adopt').map(findingKey);
    expect(second.map(findingKey).filter((key) => delivered.includes(key))).toEqual([]);
  });

  it('is not proposed where nothing is to be done by itself, and never buys', () => {
    const { orders, purchases } = plant(Object.values(PLANTS), 200);
    const byHand = join(orders, purchases).filter(({ repair: mend }) => mend === undefined);
    expect(new Set(byHand.map(({ kind }) => kind))).toEqual(
      new Set([
        'SAME_KEY_TWICE',
        'LOST',
        'UNDELIVERED',
        'MISSING_AT_PARTNER',
        'ORPHAN',
        'AMOUNT_MISMATCH',
        'STATUS_MISMATCH',
        'STUCK',
      ]),
    );
  });

  it('makes a claim of a shortfall in which a look finds no new key, so that it is not looked at as filled', () => {
    const { orders, purchases } = plant([PLANTS['half delivered, complete by now']!], 1);
    const [filled] = join(orders, purchases);
    expect(withKeysMissing(filled!)).toMatchObject({ kind: 'UNDELIVERED', orderIds: ['ord-0'] });
    expect(withKeysMissing(filled!)).not.toHaveProperty('mend');
  });

  it('names a finding the same in every run, and differently for every cause', () => {
    const { orders, purchases } = plant(Object.values(PLANTS), 100);
    const keys = join(orders, purchases).map(findingKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(join(orders.toReversed(), purchases).map(findingKey)).toEqual(keys);
  });
});

/** The purchases as they stand after what a reconciliation does. */
function mended(
  orders: readonly PartnerOrder[],
  purchases: readonly KnownPurchase[],
  findings: readonly Finding[],
): KnownPurchase[] {
  const byReference = new Map(findings.flatMap((f) => (f.repair ? [[f.referenceId, f] as const] : [])));
  const statuses = new Map(orders.map(({ id, status }) => [id, status]));
  return purchases.map((known) => {
    const finding = byReference.get(known.referenceId);
    if (!finding) return known;
    const orderId = finding.orderIds[0]!;
    switch (finding.repair) {
      case 'deliver-late':
        return { ...known, ordered: 2, delivered: statuses.get(orderId) === 'COMPLETED' ? 2 : 1 };
      case 'adopt':
        return { ...known, orderId, state: 'DELIVERING', hold: undefined };
      default:
        return { ...known, notified: [findingKey(finding)] };
    }
  });
}

function shuffled<T>(list: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });
}
