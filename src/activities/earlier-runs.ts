import { purchaseWorkflowId } from '../contracts/names';
import { deliveryMemo, purchaseMemo } from '../contracts/purchase';
import { type KeyIds, unionOfKeys } from '../domain/line-totals';
import { secretIdOf } from '../delivery';
import type { PurchaseReader } from '../temporal/client';

/** What earlier runs of a purchase, and deliveries after their end, left behind. */
export interface EarlierRuns {
  /** The ids of all keys that the checkout has confirmed. */
  confirmedKeyIds: KeyIds;
  /** Whether the checkout was notified of a refund after the end. */
  refundConfirmed: boolean;
  /** The secret that makes the key ids of this purchase; undefined if nothing says which. */
  fingerprintSecretId?: string;
}

/**
 * Reads the closing memos of a reference, which no client can forge, and which secret made its key ids: that of the confirmed ones,
 * otherwise the one that its first run recorded.
 */
export async function readEarlierRuns(
  purchases: PurchaseReader,
  referenceId: string,
  firstRunId: string,
): Promise<EarlierRuns> {
  const confirmed: KeyIds[] = [];
  let refundConfirmed = false;
  for await (const { isPurchase, memo } of purchases.closingMemos(referenceId)) {
    const { keyIds, events } = (isPurchase ? purchaseMemo : deliveryMemo).safeParse(memo ?? {}).data ?? {};
    if (keyIds) confirmed.push(keyIds);
    refundConfirmed ||= !isPurchase && (events ?? []).some(({ type }) => type === 'purchase.refunded');
  }
  const confirmedKeyIds = unionOfKeys(...confirmed);
  const [keyId] = Object.values(confirmedKeyIds).flat();
  const firstRun = { workflowId: purchaseWorkflowId(referenceId), runId: firstRunId };
  const fingerprintSecretId = keyId === undefined ? await purchases.recordedSecretId(firstRun) : secretIdOf(keyId);
  return { confirmedKeyIds, refundConfirmed, fingerprintSecretId };
}
