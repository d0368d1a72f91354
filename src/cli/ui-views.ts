import { PURCHASE_WORKFLOW } from '../contracts/names';
import { inState, withoutResult } from '../contracts/purchase-queries';
import { filteredUrl, workflowsUrl } from '../domain/ui-links';

/** The URLs of filtered lists in the Temporal UI, one for each kind of purchase that an operator looks for. */
export interface UiViews {
  held: string;
  overdue: string;
  /** Purchases that failed, were rejected, could not be placed or have no result, since midnight UTC. */
  failedToday: string;
}

/**
 * @param uiUrl TEMPORAL_UI_URL.
 * @param now epoch ms.
 */
export function uiViewsOf(uiUrl: string, namespace: string, now: number): UiViews {
  const workflows = workflowsUrl(uiUrl, namespace);
  const midnight = new Date(now).setUTCHours(0, 0, 0, 0);
  const view = (...queries: string[]) => {
    const any = queries.map((query) => `(${query})`).join(' OR ');
    const query = queries.length === 1 ? queries[0] : `(${any})`;
    return filteredUrl(workflows, `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${query}`);
  };
  const failed = (['FAILED', 'REJECTED', 'NOT_PLACED'] as const).map((state) => inState(state, midnight));
  return {
    held: view(inState('HELD')),
    overdue: view(inState('OVERDUE')),
    failedToday: view(...failed, withoutResult(midnight)),
  };
}

/** The views as human-readable lines, or how to get them. */
export function formatUiViews(views: UiViews | undefined): string[] {
  if (!views) {
    const example = 'TEMPORAL_UI_URL=http://localhost:8233';
    return [`For links to held, overdue and failed purchases in the Temporal UI, set its URL, such as ${example}.`];
  }
  return [
    'Purchases in the Temporal UI:',
    `  held          ${views.held}`,
    `  overdue       ${views.overdue}`,
    `  failed today  ${views.failedToday}`,
  ];
}
