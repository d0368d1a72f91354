import type { Finding } from './finding';
import { KIND_DOCS } from './finding-kinds';
import type { KnownPurchase, RecordIndex, UnreadableRecord } from './records';

/**
 * A finding for each record that can't be read: it says nothing about its purchase, and must not keep anybody from reading
 * the others. Of a row and its order, both unreadable, there is one.
 */
export function unreadableFindings({ unreadable, unreadableById, purchases, owners }: RecordIndex): Finding[] {
  const nameless = unreadable.filter(({ id }) => id === undefined);
  return [...[...unreadableById.values()].flatMap((records) => records.at(-1) ?? []), ...nameless].map((record) => {
    const referenceId = record.referenceId ?? (record.id === undefined ? undefined : owners.get(record.id));
    return findingOf(record, referenceId === undefined ? undefined : purchases.get(referenceId), referenceId);
  });
}

const WHAT: Record<UnreadableRecord['what'], string> = {
  row: "A row of the order history can't be read",
  order: "An order can't be read at the partner",
};

function findingOf({ what, id, why }: UnreadableRecord, purchase?: KnownPurchase, referenceId?: string): Finding {
  return {
    kind: 'UNREADABLE',
    referenceId,
    workflowId: purchase?.workflowId,
    orderIds: id === undefined ? [] : [id],
    amounts: { debited: purchase?.totalDebit },
    explanation: `${WHAT[what]}: ${why}.`,
    advice: KIND_DOCS.UNREADABLE.advice,
  };
}

/** The finding of a purchase whose memo can't be read: what was handed over is not known. */
export function unreadablePurchase({ referenceId, workflowId, orderId, unreadable }: KnownPurchase): Finding {
  return {
    kind: 'UNREADABLE',
    referenceId,
    workflowId,
    orderIds: orderId === undefined ? [] : [orderId],
    amounts: {},
    explanation: `The memo of the purchase can't be read: ${unreadable}.`,
    advice: `See with \`status ${referenceId}\` what became of it, and who wrote the memo of its workflow.`,
  };
}
