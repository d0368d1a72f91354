import type { AcceptedOrder, DeliveryMemo, HoldNotice, PurchaseMemo } from '../../contracts/purchase';
import type { AcceptedItem } from '../../domain/accepted';

/** What a reconciliation needs of a purchase's memo. */
export type ReadMemo = Pick<PurchaseMemo, 'totalDebit' | 'ordered' | 'delivered' | 'fingerprints'> & {
  hold: HoldNotice | undefined;
};

/**
 * The memo of a purchase. Whoever starts a workflow may give it a memo of his own, so it has the shape of ours or is none.
 *
 * @returns what is wrong with it otherwise; nothing of what is in it.
 */
export function readMemo(memo: Record<string, unknown> = {}): ReadMemo | string {
  const { totalDebit, ordered, delivered, fingerprints, hold } = memo;
  const numbers = { totalDebit, ordered, delivered };
  const wrong = Object.entries(numbers).find(([, value]) => !isAbsent(value) && !Number.isFinite(value));
  if (wrong) return `expected ${wrong[0]}: number`;
  if (!isAbsent(fingerprints) && !isFingerprints(fingerprints)) return 'expected fingerprints: lists by product';
  if (!isAbsent(hold) && !isHold(hold)) return 'expected hold: {id, reason, explanation, decisions}';
  const present = Object.entries({ ...numbers, fingerprints, hold }).filter(([, value]) => !isAbsent(value));
  return Object.fromEntries(present) as unknown as ReadMemo;
}

/** What operators have accepted, by the memo of a purchase; undefined where it has another shape: a person must look then. */
export function readAccepted({ accepted, fingerprints }: Record<string, unknown> = {}): AcceptedOrder | undefined {
  if (typeof accepted !== 'object' || accepted === null) return undefined;
  const { orderId, items, owner, surplus } = accepted as { [Name in keyof AcceptedOrder]: unknown };
  if (typeof orderId !== 'string') return undefined;
  return {
    orderId,
    items: items === true ? itemsHandedOver(fingerprints) : acceptedItems(items),
    owner: owner === true,
    surplus: Number.isFinite(surplus) ? Number(surplus) : 0,
  };
}

function acceptedItems(items: unknown): AcceptedItem[] | undefined {
  return Array.isArray(items) && items.every(isAcceptedItem) ? items : undefined;
}

/** Older memos say only that the items were accepted: then it was what was handed over, and a person must see what is beyond. */
function itemsHandedOver(fingerprints: unknown): AcceptedItem[] {
  if (!isFingerprints(fingerprints)) return [];
  return Object.entries(fingerprints).map(([productId, { length }]) => ({ productId, keys: length }));
}

/** The memo of a later delivery; empty where it has another shape: what was delivered is then read from histories. */
export function readDeliveryMemo(memo: Record<string, unknown> = {}): DeliveryMemo {
  const { reconciledBy, notifiedOf, fingerprints, ordered, orderId } = memo;
  const areTexts = [reconciledBy, notifiedOf, orderId].every((value) => isAbsent(value) || typeof value === 'string');
  const isCounted = isAbsent(ordered) || Number.isFinite(ordered);
  const isRead = areTexts && isCounted && (isAbsent(fingerprints) || isFingerprints(fingerprints));
  return isRead ? (memo as DeliveryMemo) : {};
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isAcceptedItem(value: unknown): value is AcceptedItem {
  const { productId, quantity, keys } = Object(value) as { [Name in keyof AcceptedItem]: unknown };
  return typeof productId === 'string' && (isAbsent(quantity) || Number.isFinite(quantity)) && Number.isFinite(keys);
}

function isFingerprints(value: unknown): value is Record<string, string[]> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isTexts);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isHold(value: unknown): boolean {
  const { id, reason, decisions } = value as Partial<HoldNotice>;
  return typeof id === 'string' && typeof reason === 'string' && isTexts(decisions);
}
