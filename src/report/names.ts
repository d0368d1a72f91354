import type { Finding, FindingAmounts } from '../domain/reconciliation/finding';
import { workflowUrl } from '../domain/ui-links';

/** What people read for each amount of a finding, in the page and in the spreadsheet. */
export const AMOUNT_NAMES: Record<keyof FindingAmounts, string> = {
  debited: 'debited',
  debitedNow: 'debited now',
  history: 'in the order history',
  furtherOrders: 'for further orders',
};

/** The page of a finding's purchase in the Temporal UI, if both are known. @param workflowsUrl lists the namespace */
export function urlOf({ workflowId }: Finding, workflowsUrl: string | undefined): string | undefined {
  return workflowsUrl === undefined || workflowId === undefined ? undefined : workflowUrl(workflowsUrl, workflowId);
}
