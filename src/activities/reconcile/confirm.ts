import {
  confirmationOf,
  type Finding,
  indexRecords,
  type KnownPurchase,
  type PartnerOrder,
  reconcile,
  type ReconcileOptions,
  type RecordIndex,
  recordsAbout,
  restsOnMissingKeys,
} from '../../domain/reconciliation/index';
import type { PartnerClient, PartnerError, ReadRetry } from '../../partner/index';
import type { PurchaseReader } from '../../temporal/client';
import { inParallel } from '../in-parallel';
import { withHandedOver } from './handed-over';
import { describePurchase, type LaterDeliveries } from './purchase-lists';
import { readOrder, withOrder } from './read-order';

/** A finding that the server and the partner confirm, with its purchase and the orders that it is about. */
export interface ConfirmedFinding {
  finding: Finding;
  purchase?: KnownPurchase;
  orders: PartnerOrder[];
  /** Why an order of it could not be read again now. Nothing is done about it then. */
  unconfirmed?: string;
}

/** What findings are confirmed with. */
export interface ConfirmContext {
  reader: PurchaseReader;
  partner: PartnerClient;
  records: RecordIndex;
  options: ReconcileOptions;
  later: LaterDeliveries;
  retry: ReadRetry;
}

/** The most orders of one finding that are read again; a double purchase may be of thousands. */
const MOST_READ_AGAIN = 20;
const PARALLEL = 4;

/**
 * Looks for a finding again in what the server says of its purchases and the partner of its orders now: the lists that suggested
 * it lag, they were read at different times, and somebody may have repaired it meanwhile.
 *
 * @returns the finding of now, which may be of another kind; undefined when nothing is found any more.
 */
export async function confirm(context: ConfirmContext, suggested: Finding): Promise<ConfirmedFinding | undefined> {
  const { reader, records, options, later } = context;
  const { orders, unreadable, references } = recordsAbout(suggested, records);
  // Keys are compared by what was handed over here, whatever the partner shows.
  const again = suggested.kind === 'SAME_KEY_TWICE' ? { orders } : await readAgain(context, suggested, orders);
  const described = await Promise.all(references.map((reference) => describePurchase(reader, reference, later)));
  const purchases = described.filter((purchase) => purchase !== undefined);
  // What could not be read stays so: the partner's refusal of it now does not make it missing.
  const find = (known: readonly KnownPurchase[]) =>
    confirmationOf(suggested, reconcile(indexRecords(again.orders, known, unreadable), options));
  const finding = find(purchases);
  const purchase = purchases.find(({ referenceId }) => referenceId === suggested.referenceId);
  if (!finding || !purchase || !restsOnMissingKeys(finding, purchase)) return confirmed(finding, purchase, again);

  const asked = await withHandedOver(reader, purchase);
  return confirmed(find(purchases.map((one) => (one === purchase ? asked : one))), asked, again);
}

function confirmed(
  finding: Finding | undefined,
  purchase: KnownPurchase | undefined,
  { orders, failed }: ReadAgain,
): ConfirmedFinding | undefined {
  return finding && { finding, purchase, orders, unconfirmed: issueWith(finding, failed) };
}

interface ReadAgain {
  orders: PartnerOrder[];
  /** By order id: why it could not be read. */
  failed?: ReadonlyMap<string, PartnerError>;
}

/** The orders of a finding as the partner shows them now. One that can't be read stays as the history showed it. */
async function readAgain(
  { partner, records, retry }: ConfirmContext,
  { orderIds, referenceId }: Finding,
  before: readonly PartnerOrder[],
): Promise<ReadAgain> {
  const unseen = orderIds.filter((id) => !records.orders.has(id));
  const ids = [...before.map(({ id }) => id), ...unseen].slice(0, MOST_READ_AGAIN);
  const now = new Map(before.map((order) => [order.id, order]));
  const createdAt = records.purchases.get(referenceId ?? '')?.startedAt ?? -Infinity;
  const failed = new Map<string, PartnerError>();
  await inParallel(ids, PARALLEL, async (id) => {
    const known = now.get(id);
    const read = await readOrder(partner, id, retry);
    if ('order' in read) now.set(id, withOrder(known ?? { id, referenceId, status: '', createdAt }, read.order));
    // That neither the history nor the partner itself shows an order is what a missing one rests on.
    else if (known || read.error.kind !== 'not-found') failed.set(id, read.error);
  });
  return { orders: [...now.values()], failed };
}

/**
 * Why a finding is not confirmed: an order may be read later, access was refused, which says nothing about any order, or it
 * is the order that the finding rests on. An order under an id that can't be used can't be asked for; its row has to do.
 */
function issueWith(finding: Finding, failed: ReadAgain['failed'] = new Map()): string | undefined {
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
