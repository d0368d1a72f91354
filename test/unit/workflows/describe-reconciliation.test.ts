import type { ReconciliationResult } from '../../../src/contracts/reconciliation';
import { describeReconciliation } from '../../../src/workflows/describe-reconciliation';

const NOTHING: ReconciliationResult = {
  from: '2026-01-28T03:00:00.000Z',
  to: '2026-01-31T03:00:00.000Z',
  orders: 20,
  findings: {},
  details: [],
  repaired: 0,
  report: '/reports/night.html',
};

function headline(differing: Partial<ReconciliationResult>, dryRun = false): string | undefined {
  return describeReconciliation({ ...NOTHING, ...differing }, dryRun).split('\n\n')[0];
}

describe('a finished reconciliation in the Temporal UI', () => {
  it.each<[string, Partial<ReconciliationResult>, string]>([
    ['nothing', {}, 'no findings'],
    ['repairs only', { findings: { LATE: 2 }, repaired: 2 }, '2 repaired, nothing left to do'],
    ['one finding that needs attention', { findings: { ORPHAN: 1 } }, '0 repaired, 1 needs attention'],
    [
      'both, of several kinds',
      { findings: { LATE: 1, ORPHAN: 1, STUCK: 2 }, repaired: 1 },
      '1 repaired, 3 need attention',
    ],
  ])('%s: counts the findings that need attention among all, not only among the first 200', (_, result, words) => {
    expect(headline(result)).toBe(`**DONE**: ${words}. 20 orders were compared.`);
  });

  it('claims no repair after a dry run, and asks no operator to act', () => {
    const words = '3 found in a dry run, nothing was repaired';
    expect(headline({ findings: { LATE: 1, ORPHAN: 2 } }, true)).toBe(`**DONE**: ${words}. 20 orders were compared.`);
  });

  it('lists the kinds, and says where the report is or why there is none', () => {
    const text = describeReconciliation({ ...NOTHING, findings: { LATE: 1, ORPHAN: 2 } }, false);
    expect(text).toContain("- 1 × LATE\n- 2 × ORPHAN\n\n**Report:** /reports/night.html (on the worker's machine)");
    const report = "not written: REPORT_DIR can't be written (ENOSPC)";
    expect(describeReconciliation({ ...NOTHING, report }, false)).not.toContain('machine');
  });
});
