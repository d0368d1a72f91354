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
import { presentableStatus } from '../../domain/order';
import type { Order, PartnerClient } from '../../partner/index';
import type { PurchaseReader } from '../../temporal/client';
import { inParallel } from '../in-parallel';
import { describePurchase, type LaterDeliveries } from './purchase-lists';
import { readOrder } from './read-order';

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
  signal: AbortSignal;
}

/** The most orders of one finding that are read again; a double purchase may be of thousands. */
const MOST_READ_AGAIN = 20;
const PARALLEL = 4;

/**
 * Looks for a finding again in what the server says of its purchases and the partner of its orders now: the lists that suggested
 * it lag, they were read at different times, and somebody may have repaired it meanwhile.
 *
 * @returns undefined when it is not found again.
 */
export async function confirm(context: ConfirmContext, suggested: Finding): Promise<ConfirmedFinding | undefined> {
  const { reader, records, options, later } = context;
  const { orders, unreadable, references } = recordsAbout(suggested, records);
  // Keys are compared by what was handed over here, whatever the partner shows.
  const again = suggested.kind === 'SAME_KEY_TWICE' ? { orders } : await readAgain(context, suggested, orders);
  const described = await Promise.all(references.map((reference) => describePurchase(reader, reference, later)));
  const purchases = described.filter((purchase) => purchase !== undefined);
  const key = findingKey(suggested);
  // What could not be read stays so: the partner's refusal of it now does not make it missing.
  const found = reconcile(indexRecords(again.orders, purchases, unreadable), options);
  const finding = found.find((one) => findingKey(one) === key);
  const purchase = purchases.find(({ referenceId }) => referenceId === suggested.referenceId);
  return finding && { finding, purchase, ...again };
}

/** The orders of a finding as the partner shows them now. One that can't be read stays as the history showed it. */
async function readAgain(
  { partner, records, signal }: ConfirmContext,
  { orderIds, referenceId }: Finding,
  before: readonly PartnerOrder[],
): Promise<Pick<ConfirmedFinding, 'orders' | 'unconfirmed'>> {
  const unseen = orderIds.filter((id) => !records.orders.has(id));
  const ids = [...before.map(({ id }) => id), ...unseen].slice(0, MOST_READ_AGAIN);
  const now = new Map(before.map((order) => [order.id, order]));
  let unconfirmed: string | undefined;
  await inParallel(ids, PARALLEL, async (id) => {
    const read = await readOrder(partner, id, signal);
    if ('order' in read) {
      const known = now.get(id) ?? { id, referenceId, createdAt: -Infinity };
      now.set(id, { ...known, status: presentableStatus(read.order.status), title: titleOf(read.order) });
    } else if (read.error.retryable) {
      unconfirmed = `order ${id} could not be read again: ${read.error.message}`;
    }
  });
  return { orders: [...now.values()], unconfirmed };
}

/** Of an order of several products a title would be that of a part. */
function titleOf({ products: [first, ...others] }: Order): string | undefined {
  return others.length === 0 ? first?.title : undefined;
}
