import { confirmationOf, type Finding } from '../../domain/reconciliation/finding';
import { reconcile } from '../../domain/reconciliation/reconcile';
import {
  byId,
  indexRecords,
  type KnownPurchase,
  type PartnerOrder,
  type ReconcileOptions,
  type RecordIndex,
  recordsAbout,
} from '../../domain/reconciliation/records';
import { isPartnerError, type PartnerError, type ReadRetry } from '../../partner/index';
import type { ActivityDependencies } from '../dependencies';
import { inParallel } from '../in-parallel';
import { describePurchase, type LaterDeliveries } from './purchase-lists';
import { readOrder, withOrder } from './read-records';

/** A finding that the server and the partner confirm, with its purchase. */
export interface ConfirmedFinding {
  finding: Finding;
  purchase?: KnownPurchase;
  /** Why an order of it could not be read again now. Nothing is done about it then. */
  unconfirmed?: string;
}

/** What findings are confirmed and repaired with. */
export interface ReconcileContext extends ActivityDependencies {
  records: RecordIndex;
  options: ReconcileOptions;
  later: LaterDeliveries;
  retry: ReadRetry;
  /** Read what would be delivered, and do nothing. */
  dryRun: boolean;
  /** How many notices were posted, or tried. */
  notices: { count: number };
}

/** The most orders of one finding that are read again; a double purchase may be of thousands. */
const MOST_READ_AGAIN = 20;
const PARALLEL = 4;

/**
 * Looks for a finding again in what the server says of its purchases and the partner of its orders now: the lists that suggested
 * it lag, they were read at different times, and somebody may have repaired it meanwhile.
 *
 * @returns the finding of now, which may be of another kind; nothing when it is not found any more. With it come delivered keys
 *   that have left its order, which only shows once that is read by itself.
 */
export async function confirm(context: ReconcileContext, suggested: Finding): Promise<ConfirmedFinding[]> {
  const { records, options, later } = context;
  const { orders, unreadable, references } = recordsAbout(suggested, records);
  // Keys are compared by what was delivered here, whatever the partner shows.
  const again =
    suggested.kind === 'SAME_KEY_TWICE' ? { orders, failed: new Map() } : await readAgain(context, suggested, orders);
  const described = await Promise.all(
    references.map((reference) => describePurchase(context.purchases, reference, later)),
  );
  const purchases = described.filter((purchase) => purchase !== undefined);
  // What could not be read stays so: the partner's refusal of it now does not make it missing.
  const found = reconcile(indexRecords(byId(again.orders), purchases, unreadable), options);
  const finding = confirmationOf(suggested, found);
  const purchase = purchases.find(({ referenceId }) => referenceId === suggested.referenceId);
  const keysGone = found.filter((one) => one.kind === 'KEYS_GONE' && one !== finding);
  return [...(finding ? [finding] : []), ...keysGone].map((one) => ({
    finding: one,
    purchase,
    unconfirmed: issueWith(one, again.failed),
  }));
}

/** By order id: why it could not be read. */
type Failed = ReadonlyMap<string, PartnerError>;

/** The orders of a finding as the partner shows them now. One that can't be read stays as the history showed it. */
async function readAgain(
  { partner, fingerprints, records, retry }: ReconcileContext,
  { orderIds, referenceId }: Finding,
  before: readonly PartnerOrder[],
): Promise<{ orders: PartnerOrder[]; failed: Failed }> {
  const unseen = orderIds.filter((id) => !records.orders.has(id));
  const ids = [...before.map(({ id }) => id), ...unseen].slice(0, MOST_READ_AGAIN);
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
    // That neither the history nor the partner itself shows an order is what a missing one rests on.
    else if (known || read.kind !== 'not-found') failed.set(id, read);
  });
  return { orders: [...now.values()], failed };
}

/**
 * Why a finding is not confirmed: an order may be read later, access was refused, which says nothing about any order, or it
 * is the order that the finding rests on. An order under an id that can't be used can't be asked for; its row has to do.
 */
function issueWith(finding: Finding, failed: Failed): string | undefined {
  for (const [id, { kind, retryable, message }] of failed) {
    const counts = retryable || kind === 'access' || (kind !== 'invalid-argument' && restsOn(finding, id));
    if (counts) return `order ${id} could not be read again: ${message}`;
  }
  return undefined;
}

/** A double purchase rests on the further orders; every other finding on the first one. */
function restsOn({ kind, orderIds: [first, ...further] }: Finding, id: string): boolean {
  return kind === 'DOUBLE_PURCHASE' ? further.includes(id) : id === first;
}
