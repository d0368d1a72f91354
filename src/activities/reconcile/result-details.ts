import type { ReportedFinding } from '../../contracts/reconciliation';

/** The most order ids of one finding in a result or an event. The report names them all. */
export const MOST_ORDER_IDS = 20;
/** The most findings in the result of the workflow, and the most bytes of them: Temporal takes 2 MiB, and warns from 512 KiB. */
const MOST_DETAILS = 200;
const MOST_BYTES = 256 * 1024;

/** The first findings, as many as fit into the result of the workflow. */
export function detailsOf(findings: readonly ReportedFinding[]): ReportedFinding[] {
  const details = findings
    .slice(0, MOST_DETAILS)
    .map((finding) => ({ ...finding, orderIds: finding.orderIds.slice(0, MOST_ORDER_IDS) }));
  let bytes = 0;
  const isBeyond = (finding: ReportedFinding) => (bytes += Buffer.byteLength(JSON.stringify(finding))) > MOST_BYTES;
  const end = details.findIndex(isBeyond);
  return end < 0 ? details : details.slice(0, end);
}
