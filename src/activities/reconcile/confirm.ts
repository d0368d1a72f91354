import {
  type Finding,
  findingKey,
  indexRecords,
  type KnownPurchase,
  type PartnerOrder,
  reconcile,
  type ReconcileOptions,
  type RecordIndex,
  recordsAbout,
} from '../../domain/reconciliation/index';
import type { PurchaseReader } from '../../temporal/client';
import { describePurchase, type LaterDeliveries } from './purchase-lists';

/** A finding that the server confirms, with its purchase and the orders that it is about. */
export interface ConfirmedFinding {
  finding: Finding;
  purchase?: KnownPurchase;
  orders: PartnerOrder[];
}

/**
 * Looks for a finding again in what the server says of its purchases now: the lists that suggested it lag, and somebody may
 * have repaired it meanwhile.
 *
 * @returns undefined when it is not found again.
 */
export async function confirm(
  reader: PurchaseReader,
  suggested: Finding,
  { records, options, later }: { records: RecordIndex; options: ReconcileOptions; later: LaterDeliveries },
): Promise<ConfirmedFinding | undefined> {
  const { orders, references } = recordsAbout(suggested, records);
  const described = await Promise.all(references.map((reference) => describePurchase(reader, reference, later)));
  const purchases = described.filter((purchase) => purchase !== undefined);
  const key = findingKey(suggested);
  const found = reconcile(indexRecords(orders, purchases), options);
  const finding = found.find((one) => findingKey(one) === key);
  const purchase = purchases.find(({ referenceId }) => referenceId === suggested.referenceId);
  return finding && { finding, purchase, orders };
}
