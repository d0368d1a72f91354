import type { LedgerOrder } from '../../../sandbox';
import { audit, type AuditLine } from '../../../demo/audit';
import { paintFor } from '../../../demo/colours';
import { ORPHAN, SCENARIOS } from '../../../demo/scenarios';
import { ledgerTable, verdict } from '../../../demo/verdict';

const plain = (text: string) => text;
const marked = (text: string, colour: string) => `<${colour}>${text.trimEnd()}</>`;

const results = new Map(SCENARIOS.map(({ referenceId, expected }) => [referenceId, { outcome: expected }]));
const lines: AuditLine[] = [
  ...SCENARIOS.map(({ referenceId }) => ({ referenceId, isPurchase: true, orders: 1, issued: 4, received: 4 })),
  { referenceId: ORPHAN, isPurchase: false, orders: 1, issued: 1, received: 0 },
];

describe('the last screen of the demo', () => {
  it('fits into 80 columns and 24 rows, with the verdict and the address of the UI below the table', () => {
    const table = ledgerTable(lines, results, plain);
    for (const line of [...table, verdict(0, plain)]) expect(line.length).toBeLessThan(80);
    // A blank line, the verdict, the address, two lines of advice and the line of the cursor follow the table.
    expect(table.length + 6).toBeLessThanOrEqual(24);
  });

  it.each([
    ['DELIVERED', 'green'],
    ['OVERDUE', 'yellow'],
    ['FAILED', 'red'],
    ['REJECTED', 'red'],
  ])(
    'shows %s in %s, because the colour shows the outcome of the sale, not whether the demo expected it',
    (outcome, colour) => {
      expect(ledgerTable(lines, results, marked).join('\n')).toContain(`<${colour}>${outcome}</>`);
    },
  );

  it('names an order without a purchase, without a tick', () => {
    const line = ledgerTable(lines, results, plain).find((one) => one.startsWith(ORPHAN));
    expect(line).toMatch(/no purchase +1 +0 of 1 +– ordered by hand/);
    expect(line).not.toContain('✓');
  });

  it('names each mismatch instead of a tick, and fails the demo', () => {
    const wrong = [{ ...lines[0]!, mismatch: 'bought 2 times' }];
    expect(ledgerTable(wrong, results, plain)[1]).toMatch(/✗ bought 2 times$/);
    expect([verdict(1, plain), verdict(2, plain)]).toEqual([
      '✗ 1 result is not as expected',
      '✗ 2 results are not as expected',
    ]);
  });
});

describe('the colours of the demo', () => {
  it.each([
    [{ isTTY: true, hasColors: () => true }, true],
    [{ isTTY: true, hasColors: () => false }, false],
    [{ isTTY: false, hasColors: () => true }, false],
  ])('are used only on a terminal that supports them, and never with NO_COLOR: %#', (out, isColoured) => {
    expect(paintFor(out)('text', 'red').includes('\u001b')).toBe(isColoured);
  });
});

describe('the audit of the demo', () => {
  const order = (referenceId: string, ...values: string[]) =>
    ({ referenceId, items: [{ keys: values.map((value) => ({ value })) }] }) as LedgerOrder;
  const event = (referenceId: string, ...keys: string[]) => ({ type: 'purchase.delivered', referenceId, keys });
  const mismatches = (ledger: LedgerOrder[], events: ReturnType<typeof event>[]) =>
    audit(ledger, events, new Set(['HAND'])).map(({ referenceId, mismatch }) => [referenceId, mismatch]);

  it('reports missing keys only for orders of purchases, and lists other orders last', () => {
    expect(mismatches([order('HAND', 'h'), order('SALE', 's')], [])).toEqual([
      ['SALE', 'a key was paid for but not delivered'],
      ['HAND', undefined],
    ]);
  });

  it('does not accept a key of an order without a purchase at the checkout', () => {
    expect(mismatches([order('HAND', 'h')], [event('HAND', 'h')])).toEqual([
      ['HAND', 'a key of an order without a purchase was delivered'],
    ]);
  });

  it('finds a second order, a key that was received twice and a key that was never issued', () => {
    const ledger = [order('A', 'a'), order('A', 'b'), order('B', 'c'), order('C', 'd')];
    const events = [event('A', 'a', 'b'), event('B', 'c', 'c'), event('C', 'd', 'e')];
    expect(mismatches(ledger, events)).toEqual([
      ['A', 'bought 2 times'],
      ['B', 'a key was delivered twice'],
      ['C', 'a key was delivered that the partner did not issue'],
    ]);
  });
});
