import { z } from 'zod';
import { DECISIONS, HOLD_REASONS } from '../domain/holds';
import { REFERENCE_PATTERN } from '../domain/order';
import type { PurchaseItem } from '../domain/purchase-item';
import { PURCHASE_OUTCOMES, type PurchaseState } from '../domain/purchase-state';
import { MAX_ITEMS, MAX_KEYS, MAX_PRODUCT_ID, MAX_QUANTITY } from '../domain/purchase-rules';
import type { HoldDecision, Hold, CurrentWait, PurchaseResult, ReceivedEvent } from './public-types';

export type {
  HoldDecision,
  Hold,
  CurrentWait,
  PurchaseInput,
  PurchaseLine,
  PurchaseResult,
  ReceivedEvent,
} from './public-types';

/*
 * Purchases as checkouts, operators and lists see them. Each schema gives the type, the runtime check and the published
 * JSON Schema. Workflow code imports only the types: the modules of a workflow bundle are frozen, which breaks zod.
 */

const productId = z.string().min(1).max(MAX_PRODUCT_ID).describe("The partner's id of the product.");

/* The fields that events and results share. */
export const referenceId = z.string().regex(REFERENCE_PATTERN).describe("The checkout's reference of the sale.");
export const orderId = z.string().describe("The partner's id of the order; absent if there is none.");
export const outcome = z.enum(PURCHASE_OUTCOMES).describe('How the purchase ended.');
export const totalDebit = z
  .number()
  .describe("The amount debited: the partner's decimal number as received, in the account's currency.");
export const reason = z.string().describe('An explanation, if the outcome alone is not clear.');

/** The only argument of `purchaseWorkflow`. Each product may appear in `items` only once. */
export const purchaseInput = z
  .object({
    referenceId: referenceId.describe(
      'Identifies the sale. Use one reference per sale: retry with the same one, and never use it for another sale.',
    ),
    items: z
      .array(z.object({ productId, quantity: z.int().min(1).max(MAX_QUANTITY) }))
      .min(1)
      .max(MAX_ITEMS),
    maxDebit: z
      .number()
      .min(0)
      .optional()
      .describe("The maximum price of the purchase in the partner's catalogue. If absent, the price is not checked."),
  })
  .meta({
    title: 'PurchaseInput',
    description: `The only argument of purchaseWorkflow. Each product appears once; at most ${MAX_KEYS} keys in all.`,
  });

const purchaseLine = z.object({
  productId: z.string(),
  title: z.string().optional(),
  quantity: z.int().describe('The number ordered.'),
  delivered: z.int().describe('The number of keys delivered.'),
});

/** How a purchase ended. */
export const purchaseResult = z
  .object({
    referenceId,
    outcome,
    orderId: orderId.optional(),
    lines: z.array(purchaseLine),
    totalDebit: totalDebit.optional(),
    cancelRequested: z
      .boolean()
      .optional()
      .describe('True if a cancel request had no effect, because an order may already have existed.'),
    reason: reason.optional(),
  })
  .meta({
    title: 'PurchaseResult',
    description: 'The result of purchaseWorkflow: how a purchase ended. Fields may be added.',
  });

const receivedEvent = z.object({
  id: z.string(),
  type: z.string(),
  /** ISO 8601: when it was received. */
  at: z.string(),
});

/** The schema of `Hold`. */
const holdSchema = z.object({
  /** Part of the commands that operators paste, and a client can write any memo. */
  id: z.string().regex(/^[\w:-]{1,100}$/),
  reason: z.enum(HOLD_REASONS),
  explanation: z.string(),
  decisions: z.array(z.enum(DECISIONS)),
  /** ISO 8601: when the hold was opened. */
  since: z.string(),
});

/** The open hold in a memo; undefined if there is none or it is invalid. */
export function holdIn(memo: Record<string, unknown> | undefined): Hold | undefined {
  return holdSchema.safeParse(memo?.hold).data;
}

const keyIds = z.record(z.string(), z.array(z.string()));

/** What operators accepted of one order. The fields match `Accepted` in domain/review-order.ts. */
const acceptedOrder = z.object({
  orderId: z.string(),
  items: z.array(z.object({ productId: z.string(), quantity: z.number().optional(), keys: z.number() })).optional(),
  owner: z.boolean().optional(),
  surplus: z.number().optional(),
  keylessEvents: z.array(z.string()).optional(),
});

export type AcceptedOrder = z.infer<typeof acceptedOrder>;

/** Other clients write null for an absent field. */
const absentOr = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);

/**
 * The memo of a purchase, which lists show. While the purchase runs it contains `hold`, and after its end the rest. A
 * client can start a workflow with any memo, so everything but `hold` is trusted only if the purchase completed.
 */
export const purchaseMemo = z.object({
  totalDebit: absentOr(z.number()),
  /** How many keys the order should contain: as many as bought, unless an operator accepted other items. */
  ordered: absentOr(z.number()),
  delivered: absentOr(z.number()),
  /** By product: the ids of all keys that the checkout has received, in all runs and deliveries. Never the keys. */
  keyIds: absentOr(keyIds),
  /** Only the key ids of the outcome event, if earlier runs delivered others. */
  outcomeKeyIds: absentOr(keyIds),
  events: absentOr(z.array(receivedEvent)),
  /** An explanation, if the outcome alone is not clear. */
  reason: absentOr(z.string()),
  hold: absentOr(holdSchema),
  /** What operators accepted. It also applies to late keys. */
  accepted: absentOr(acceptedOrder),
  /** Of an overdue purchase: another request may have placed its order, so all items of the order must match the sale. */
  adopted: absentOr(z.boolean()),
});

export type PurchaseMemo = z.infer<typeof purchaseMemo>;

/** The memo of a completed `deliverWorkflow`. */
export const deliveryMemo = purchaseMemo.pick({ events: true, keyIds: true, ordered: true }).extend({
  /** Those of `keyIds` that are no longer in the order; absent if the order can't show it. */
  goneKeyIds: absentOr(z.array(z.string())),
  orderId: absentOr(z.string()),
  /** Keys may have been delivered without a confirmation. */
  keysMayHaveArrived: absentOr(z.boolean()),
});

export type DeliveryMemo = z.infer<typeof deliveryMemo>;

/** The argument of the update `resolve`. `holdId` is the id of the hold that it resolves. */
export type ResolveUpdateInput = HoldDecision & { holdId: string };

/**
 * The worker settings that a purchase needs, in milliseconds. They reach the workflow as a recorded activity result, so
 * a purchase keeps the settings with which it started.
 */
export interface PurchaseSettings {
  placeWithinMs: number;
  firstPollMs: number;
  pollIntervalMs: number;
  /** `orders`: every open order is polled. `history`: one reading of the order history serves all open orders. */
  watch: 'orders' | 'history';
  deadlineMs: number;
  confirmWindowMs: number;
  replace: 'never' | 'answered' | 'always';
  partnerTimeoutMs: number;
  deliveryTimeoutMs: number;
}

const currentWait = z.object({
  what: z.string(),
  since: z.string(),
  until: z.string().optional(),
});

const currentWaits = z.object({ explanation: z.string(), waitsFor: currentWait });

/** Why and for what the purchase waits, from a result of the query `status`. Ignores its other fields. */
export function waitIn(result: unknown): { explanation: string; waitsFor: CurrentWait } | undefined {
  return currentWaits.safeParse(result).data;
}

/**
 * The result of the query `status`, which also works after the purchase has ended. Timestamps are ISO 8601. The
 * workflow does not know the attempts of a pending activity; the command `npx fulfilment status` adds them.
 */
export interface StatusQueryResult {
  referenceId: string;
  items: readonly PurchaseItem[];
  maxDebit?: number;
  state: PurchaseState;
  /** When the purchase entered this state. */
  since: string;
  orderId?: string;
  /** What is happening, or how the purchase ended. */
  explanation: string;
  /** What the purchase is waiting for; absent once it has ended. */
  waitsFor?: CurrentWait;
  /** The hold that is waiting for a decision. */
  hold?: Hold;
  /** The last poll that the workflow knows of. */
  lastPoll?: { status: string; at: string };
  cancelRequested: boolean;
  /** The events that the checkout has received. */
  events: ReceivedEvent[];
  result?: PurchaseResult;
}
