import { formatUiViews, uiViewsOf } from '../../../src/cli/ui-views';

const NOW = Date.parse('2026-01-31T23:59:00Z');

describe('the views of purchases in the Temporal UI', () => {
  const views = uiViewsOf('http://localhost:8233', 'shop', NOW);
  const queries = Object.values(views).map((view: string) => new URL(view).searchParams.get('query'));

  it('list only purchases, in the right namespace', () => {
    for (const view of Object.values(views))
      expect(view).toMatch(/^http:..localhost:8233.namespaces.shop.workflows\?query=/);
    for (const query of queries) expect(query).toMatch(/^WorkflowType = 'purchaseWorkflow' AND /);
  });

  it('show held purchases only while they run, overdue ones, and failures since midnight with or without a result', () => {
    const [held, overdue, failedToday] = queries;
    expect(held).toContain("PurchaseState = 'HELD' AND ExecutionStatus = 'Running'");
    expect(overdue).toContain("PurchaseState = 'OVERDUE' AND ExecutionStatus = 'Completed'");
    for (const state of ['FAILED', 'REJECTED', 'NOT_PLACED'])
      expect(failedToday).toContain(`PurchaseState = '${state}'`);
    expect(failedToday).toContain("'Terminated'");
    expect(failedToday?.match(/CloseTime >= '2026-01-31T00:00:00.000Z'/g)).toHaveLength(4);
  });

  it('are printed with their addresses, or with the variable to set if the address is unknown, which is never guessed', () => {
    expect(formatUiViews(views).join('\n')).toContain(`\n  held          ${views.held}\n`);
    expect(formatUiViews(undefined)).toEqual([expect.stringContaining('TEMPORAL_UI_URL=')]);
  });
});
