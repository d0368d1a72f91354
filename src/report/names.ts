import type { Finding, FindingAmounts } from '../domain/reconciliation/finding';
import { workflowUrl } from '../domain/ui-links';

/** The label of each amount of a finding, on the page and in the spreadsheet. */
export const AMOUNT_NAMES: Record<keyof FindingAmounts, string> = {
  debited: 'debited',
  debitedNow: 'debited now',
  history: 'in the order history',
  furtherOrders: 'for further orders',
};

/**
 * The page of a finding's purchase in the Temporal UI, if both are known.
 *
 * @param workflowsUrl the page that lists the namespace's workflows
 */
export function urlOf({ workflowId }: Finding, workflowsUrl: string | undefined): string | undefined {
  return workflowsUrl === undefined || workflowId === undefined ? undefined : workflowUrl(workflowsUrl, workflowId);
}
