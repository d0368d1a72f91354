import { rowsById } from '../../domain/order';
import { matchingFinding, type Finding } from '../../domain/reconciliation/finding';
import { reconcile } from '../../domain/reconciliation/reconcile';
import {
  indexRecords,
  type KnownPurchase,
  type PartnerOrder,
  type ReconcileOptions,
  type RecordIndex,
  recordsAbout,
} from '../../domain/reconciliation/records';
import { isPartnerError, type PartnerError, type ReadRetry } from '../../partner';
import type { ActivityDependencies } from '../dependencies';
import { inParallel } from '../in-parallel';
import { readKnownPurchase, type LateDeliveries } from './purchase-lists';
import { readOrder, withOrder } from './read-records';

/** A finding that a second reading of Temporal and the partner still shows, with its purchase. */
export interface RecheckedFinding {
  finding: Finding;
  purchase?: KnownPurchase;
  /** Why one of its orders could not be read again. The finding is then reported, but not repaired. */
  notRechecked?: string;
}

/** What is needed to check findings again and repair them. */
export interface ReconcileContext extends ActivityDependencies {
  records: RecordIndex;
  options: ReconcileOptions;
  lateDeliveries: LateDeliveries;
  retry: ReadRetry;
  /** Only report. */
  dryRun: boolean;
  /** Notices posted so far, including failed ones. */
  notices: { count: number };
}

/** The most orders of one finding that are read again. A double purchase may have thousands. */
const MAX_READ_AGAIN = 20;
const PARALLEL = 4;

/**
 * Reads the purchases and orders of a finding again. The lists that suggested it lag and were read at different times,
 * and the finding may have been repaired since.
 *
 * @returns the current finding, possibly of another kind, or nothing if it is gone. Also a finding for delivered keys
 *   that have disappeared from the order, which only a reading of the order itself shows.
 */
export async function recheckFinding(context: ReconcileContext, suggested: Finding): Promise<RecheckedFinding[]> {
  const { records, options, lateDeliveries } = context;
  const { orders, unreadable, references } = recordsAbout(suggested, records);
  // This kind compares keys that purchases delivered, so the orders are not read again.
  const again =
    suggested.kind === 'SAME_KEY_TWICE' ? { orders, failed: new Map() } : await readAgain(context, suggested, orders);
  const { orders: all } = records;
  const described = await Promise.all(
    references.map((reference) => readKnownPurchase(context.purchases, reference, { orders: all, lateDeliveries })),
  );
  const purchases = described.filter((purchase) => purchase !== undefined);
  // An unreadable record stays unreadable; a failed read does not make it missing.
  const found = reconcile(indexRecords(rowsById(again.orders), purchases, unreadable), options);
  const finding = matchingFinding(suggested, found);
  const purchase = purchases.find(({ referenceId }) => referenceId === suggested.referenceId);
  const keysGone = found.filter((one) => one.kind === 'KEYS_GONE' && one !== finding);
  return [...(finding ? [finding] : []), ...keysGone].map((one) => ({
    finding: one,
    purchase,
    notRechecked: issueWith(one, again.failed),
  }));
}

/** Why an order could not be read, by order id. */
type Failed = ReadonlyMap<string, PartnerError>;

/**
 * The orders of a finding as the partner shows them now. An order that can't be read stays as the history showed it.
 */
async function readAgain(
  { partner, fingerprints, records, retry }: ReconcileContext,
  { orderIds, referenceId }: Finding,
  before: readonly PartnerOrder[],
): Promise<{ orders: PartnerOrder[]; failed: Failed }> {
  const unseen = orderIds.filter((id) => !records.orders.has(id));
  const ids = [...before.map(({ id }) => id), ...unseen].slice(0, MAX_READ_AGAIN);
  const now = new Map(before.map((order) => [order.id, order]));
  const createdAt = records.purchases.get(referenceId ?? '')?.startedAt ?? -Infinity;
  const failed = new Map<string, PartnerError>();
  await inParallel(ids, PARALLEL, async (id) => {
    const known = now.get(id);
    const owner = records.purchases.get(records.owners.get(id) ?? '');
    const read = await readOrder(partner, id, retry, owner?.keyIds);
    if (!isPartnerError(read)) {
      const shown = known ?? { id, referenceId, status: '', createdAt };
      now.set(id, withOrder(fingerprints, shown, read, owner?.keyIds));
    }
    // An order that neither the history nor the partner knows is missing, which is not a failure.
    else if (known || read.kind !== 'not-found') failed.set(id, read);
  });
  return { orders: [...now.values()], failed };
}

/**
 * Why a finding could not be checked again: an order is temporarily unreadable, access was denied, or the order on
 * which the finding is based can't be read. An order with an unusable id can't be requested, so its row is enough.
 */
function issueWith(finding: Finding, failed: Failed): string | undefined {
  for (const [id, { kind, retryable, message }] of failed) {
    const counts = retryable || kind === 'access' || (kind !== 'invalid-argument' && isBasedOn(finding, id));
    if (counts) return `order ${id} could not be read again: ${message}`;
  }
  return undefined;
}

/** A double purchase is based on the orders after the first; every other finding is based on the first. */
function isBasedOn({ kind, orderIds: [first, ...further] }: Finding, id: string): boolean {
  return kind === 'DOUBLE_PURCHASE' ? further.includes(id) : id === first;
}
