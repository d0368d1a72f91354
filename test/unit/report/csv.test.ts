import fc from 'fast-check';
import type { ReportedFinding } from '../../../src/domain/reconciliation/finding';
import { renderCsv as partsOf } from '../../../src/report/csv';
import { eventfulNight, quietNight } from './sample';

function renderCsv(report: Parameters<typeof partsOf>[0]): string {
  return [...partsOf(report)].join('');
}

function finding(explanation: string): ReportedFinding {
  const about = { orderIds: ['o-1', 'o-2'], amounts: { history: -3.5 } };
  return { kind: 'ORPHAN', ...about, explanation, advice: 'Ask.', done: 'unrepaired' };
}

const HEADER = [
  ...['kind', 'done', 'reference', 'orders', 'workflow'],
  ...['amount debited', 'amount in the order history', 'amount for further orders'],
  ...['explanation', 'advice', 'note', 'amount debited now', 'reconciled at (UTC)', 'Temporal UI'],
];

describe('the report as CSV', () => {
  it('has one row per finding, whatever characters it contains', () => {
    const hostile = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\r', '\n', '\t', "'", ' ', 'ł') });
    fc.assert(
      fc.property(hostile, (text) => {
        const rows = parse(renderCsv({ ...quietNight(), findings: [finding(text), finding('plain')] }));
        expect(rows).toHaveLength(3);
        expect(rows[0]).toEqual(HEADER);
        expect(rows.map((row) => row.length)).toEqual([14, 14, 14]);
        expect(rows[1]?.[8]?.replaceAll("'", '')).toBe(text.replace(/[\r\n\t]+/g, ' ').replaceAll("'", ''));
      }),
    );
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1', ' =1'])(
    'does not let %j become a formula',
    (text) => {
      const [, row] = parse(renderCsv({ ...quietNight(), findings: [finding(text)] }));
      expect(row?.[8]).toBe(`'${text.replace(/[\t\r]/, ' ')}`);
    },
  );

  it('has no control or bidi characters in a cell, even if a client put them into a workflow id', () => {
    const csv = renderCsv({
      ...quietNight(),
      findings: [{ ...finding('x'), workflowId: 'a\u0007\u202E\u001Bb\uD83D' }],
    });
    expect(csv).toContain('"a b "');
  });

  it('contains no formula in any cell, even if a spreadsheet splits at semicolons, tabs or line breaks', () => {
    const parts = fc.constantFrom('=', '+', '-', '@', ';', ',', '\t', '\n', '\r', '"', "'", ' ', 'x', '1');
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (list) => {
        const csv = renderCsv({ ...quietNight(), findings: [finding(list.join(''))] });
        const cells = csv.slice(1).split(/[;,\t\r\n"]/);
        const dangerous = cells.filter((cell) => /^ *[=+\-@]/.test(cell));
        expect(dangerous.filter((cell) => cell !== '-3.5')).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('begins with the byte order mark that Excel needs for UTF-8, and has only a header row if all is well', () => {
    expect(renderCsv(quietNight())).toBe(`\uFEFF${HEADER.map((name) => `"${name}"`).join(',')}\r\n`);
  });

  it('dates each row with its reconciliation, in a form that a spreadsheet reads as a date', () => {
    const [, row] = parse(renderCsv({ ...quietNight(), findings: [finding('x')] }));
    expect(row?.[12]).toBe('2026-01-15 03:00:00');
  });

  it('links a row to its purchase if the address of the Temporal UI is known, and never links elsewhere', () => {
    const workflowsUrl = 'https://temporal.example/namespaces/default/workflows';
    const findings = [{ ...finding('x'), workflowId: 'purchase-A/B' }, finding('an orphan has no purchase')];
    const linkOf = (report: object) => parse(renderCsv({ ...quietNight(), findings, ...report })).map((row) => row[13]);
    expect(linkOf({ workflowsUrl })).toEqual(['Temporal UI', `${workflowsUrl}/purchase-A%2FB`, '']);
    expect(linkOf({})).toEqual(['Temporal UI', '', '']);
  });

  it('has every finding of an eventful night, with negative amounts as numbers that a spreadsheet can add up', () => {
    const report = eventfulNight();
    const rows = parse(renderCsv(report)).slice(1);
    expect(rows.map(([kind, done]) => [kind, done])).toEqual(report.findings.map(({ kind, done }) => [kind, done]));
    expect(renderCsv({ ...quietNight(), findings: [finding('x')] })).toContain(',-3.5,');
  });
});

/** Reads CSV strictly by RFC 4180. */
function parse(csv: string): string[][] {
  const rows: string[][] = [[]];
  const token = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  const text = csv.replace(/^\uFEFF/, '');
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    if (!match) throw new Error('no CSV');
    rows.at(-1)?.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}
