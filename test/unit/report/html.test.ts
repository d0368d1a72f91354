import type { ReportedFinding } from '../../../src/domain/reconciliation/finding';
import { renderHtml } from '../../../src/report/html/index';
import type { ReconciliationReport } from '../../../src/report/index';
import { eventfulNight, quietNight } from './sample';

const HOSTILE = `<script>alert(1)</script>"><img src=x onerror='alert(2)'>&amp;`;

function titleOf(report: ReconciliationReport): string | undefined {
  return /<h1>(.*?)<\/h1>/.exec(renderHtml(report))?.[1];
}

describe('the report as a page', () => {
  it('says in its headline whether all is well, which is not the case while a notified finding needs attention', () => {
    const report = eventfulNight();
    const of = (status: string) => report.findings.filter(({ done }) => done === status);
    const [repaired, notified, [unrepaired]] = [of('repaired'), of('notified'), of('unrepaired')];
    const title = (findings: ReportedFinding[], dryRun = false) => titleOf({ ...report, findings, dryRun });
    expect(titleOf(quietNight())).toBe('All is well');
    expect(title(repaired)).toBe(`All is well: ${repaired.length} repaired, nothing left to do`);
    expect(titleOf(report)).toBe(`${report.findings.length - repaired.length} findings need attention`);
    expect(title(notified)).toBe(`${notified.length} findings need attention`);
    expect(title([unrepaired!])).toBe('1 finding needs attention');
    expect(title([{ ...unrepaired!, done: 'dry-run' }], true)).toBe('1 finding in a dry run');
  });

  it('shows the findings that need attention first, then the repaired ones, then the totals', () => {
    const page = renderHtml(eventfulNight());
    const headings = ['What needs attention', 'What was repaired', '<h2>Totals', 'Orders by day'];
    const places = headings.map((text) => page.indexOf(text));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  it('explains for each finding what is wrong and what to do', () => {
    const report = eventfulNight();
    const page = renderHtml(report)
      .replaceAll(/<\/?(?:bdi|code)[^>]*>/g, '')
      .replaceAll('&#39;', "'");
    for (const { explanation, advice, done } of report.findings) {
      expect(page).toContain(explanation);
      if (done !== 'repaired') expect(page).toContain(advice.replaceAll('`', ''));
    }
  });

  it('never interprets outside text as markup', () => {
    const amounts = { [HOSTILE]: 1, debited: 2, debitedNow: 4, history: 3 } as ReportedFinding['amounts'];
    const ids = { referenceId: HOSTILE, orderIds: [HOSTILE], workflowId: HOSTILE };
    const texts = { explanation: HOSTILE, advice: HOSTILE, note: HOSTILE };
    const finding: ReportedFinding = { kind: 'ORPHAN', ...ids, amounts, ...texts, done: 'unrepaired' };
    const page = renderHtml({
      ...quietNight(),
      ...{ workflowsUrl: `https://${HOSTILE}`, workflowId: HOSTILE },
      ...{ runId: HOSTILE, from: HOSTILE, to: HOSTILE, createdAt: HOSTILE, timeZone: HOSTILE },
      byStatus: { [HOSTILE]: { orders: 1, amount: 1 } },
      days: [{ day: HOSTILE, orders: 1, delivered: 1, amount: 1 }],
      hours: [1],
      findings: [finding, { ...finding, advice: `${HOSTILE} again`, done: 'repaired' }],
    });
    expect(page).not.toMatch(/<script|<img|onerror='/);
    expect(page).toContain('debited now');
    expect(page.match(/&lt;script&gt;alert\(1\)/g)!.length).toBeGreaterThan(15);
    expect(tagsOf(page)).toEqual(tagsOf(page.replaceAll(/&[a-z#0-9]+;/g, '')));
  });

  it('loads nothing from the network and runs no script', () => {
    const page = renderHtml(eventfulNight());
    expect(page).not.toMatch(/https?:|src=|<link|@import|url\(|<script|\son[a-z]+=|javascript:/i);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'`);
  });

  it('links each purchase and the run of the report to the Temporal UI if its address is known, and never links elsewhere', () => {
    const workflowsUrl = 'https://temporal.example/ui/namespaces/shop/workflows';
    const about = { orderIds: ['o-1'], amounts: {}, explanation: 'x', advice: 'y', done: 'unrepaired' } as const;
    const findings: ReportedFinding[] = [
      { ...about, orderIds: ['o-1'], kind: 'LOST', referenceId: 'SALE-1', workflowId: 'purchase-SALE-1' },
      { ...about, orderIds: ['o-2'], kind: 'ORPHAN', referenceId: 'BY-HAND', explanation: 'see https://evil.example' },
    ];
    const page = renderHtml({ ...quietNight(), workflowsUrl, findings });
    const { runId, workflowId } = quietNight();
    expect(page).toContain(`href="${workflowsUrl}/purchase-SALE-1" rel="noreferrer"><bdi>SALE-1</bdi></a>`);
    expect(page).toContain(`href="${workflowsUrl}/${encodeURIComponent(workflowId)}/${runId}"`);
    const targets = [...page.matchAll(/href="([^"#]+)/g)].map(([, target]) => target);
    expect(targets).toHaveLength(2);
    expect(targets.every((target) => target?.startsWith(workflowsUrl))).toBe(true);
  });

  it('uses the same words for each status as the JSON, and explains them', () => {
    const [finding] = eventfulNight().findings;
    for (const done of ['repaired', 'notified', 'unrepaired', 'dry-run'] as const) {
      const page = renderHtml({ ...quietNight(), findings: [{ ...finding!, done }] });
      expect(page).toContain(`<span class="${done}">${done}</span>`);
      expect(page.includes(`<b>${done}</b>: `)).toBe(done !== 'repaired');
    }
  });

  it('keeps an order id on one line unless it is wider than a phone', () => {
    const [finding] = eventfulNight().findings;
    const uuid = '0199f3a2-5c1e-7d40-9b1f-2f6a8c1d7e55';
    const page = renderHtml({ ...quietNight(), findings: [{ ...finding!, orderIds: [uuid, 'x'.repeat(200)] }] });
    expect(page.match(/class="unbroken"><bdi>[^<]+/g)).toEqual([`class="unbroken"><bdi>${uuid}`]);
  });

  it('names the column in each cell, because a phone does not show the column headings', () => {
    const page = renderHtml(eventfulNight());
    const cells = page.match(/<table class="findings">.*?<\/table>/gs)!.join('');
    const names = new Set([...cells.matchAll(/<th scope="col" class="\w+">([^<]+)/g)].map(([, name]) => name));
    expect(new Set([...cells.matchAll(/data-name="([^"]+)"/g)].map(([, name]) => name))).toEqual(names);
    expect(cells.match(/<td/g)).toHaveLength(cells.match(/data-name="/g)!.length);
  });

  it('says that the currency of the amounts is unknown, because the partner does not name it', () => {
    expect(renderHtml(quietNight())).toContain('in the currency of your account, which the partner does not name');
  });

  it('stays small enough for a browser with 50,000 orphans, and says where to find the rest', () => {
    const [finding] = eventfulNight().findings.filter(({ kind }) => kind === 'ORPHAN');
    const findings = Array.from({ length: 50_000 }, (_, i) => ({ ...finding!, orderIds: [`o-${i}`] }));
    const page = renderHtml({ ...eventfulNight(), findings });
    expect(page.length).toBeLessThan(200_000);
    expect(page).toContain('50,000');
    expect(page).toContain('49,800 more are in the CSV and the JSON of this report.');
  });

  it('draws bars for a single day, for every day of a year, and for days without orders', () => {
    const day = (i: number, orders: number) => ({ day: `2026-${String(i)}`, orders, delivered: orders, amount: 1 });
    const charts = { 1: 5, 366: 1_234_567, 3: 0 };
    for (const [length, orders] of Object.entries(charts).map(([days, each]) => [Number(days), each] as const)) {
      const page = renderHtml({ ...quietNight(), days: Array.from({ length }, (_, i) => day(i, orders)) });
      expect(page.match(/<td class="bar"/g)).toHaveLength(length);
      expect(page).not.toMatch(/NaN|Infinity|width:-/);
    }
  });
});

function tagsOf(page: string): string[] {
  return page.match(/<\/?[a-z][^>]*>/gi)!.map((tag) => tag.replace(/=.*/s, ''));
}
