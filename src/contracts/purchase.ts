import { z } from 'zod';
import { DECISION_KINDS, type DecisionKind, HOLD_REASONS } from '../domain/holds';
import { type PurchaseItem, REFERENCE_PATTERN } from '../domain/order';
import { PURCHASE_OUTCOMES, type PurchaseState } from '../domain/purchase-state';
import { MAX_ITEMS, MAX_KEYS, MAX_PRODUCT_ID, MAX_QUANTITY } from '../domain/purchase-rules';

/*
 * Purchases as checkouts, operators and lists see them. One schema gives the type, the check of what somebody else wrote, and the
 * published JSON Schema. Workflow code imports only the types: the modules of a workflow bundle are frozen, which zod can't be.
 */

const productId = z.string().min(1).max(MAX_PRODUCT_ID).describe("The partner's id of the product.");

/** What every event and result says about the sale. */
export const referenceId = z.string().regex(REFERENCE_PATTERN).describe("The checkout's reference of the sale.");
export const orderId = z.string().describe("The partner's id of the order; absent if there is none.");
export const outcome = z.enum(PURCHASE_OUTCOMES);
export const totalDebit = z
  .number()
  .describe("What was debited: the partner's decimal number as it came, in the account's currency.");
export const reason = z.string().describe('In words, if the outcome alone does not say it.');

/** The one argument of `purchaseWorkflow`. A product may stand in `items` only once. */
export const purchaseInput = z
  .object({
    referenceId: referenceId.describe('One for each sale, never used again.'),
    items: z
      .array(z.object({ productId, quantity: z.int().min(1).max(MAX_QUANTITY) }))
      .min(1)
      .max(MAX_ITEMS),
    maxDebit: z
      .number()
      .min(0)
      .optional()
      .describe(
        "The most that the purchase may cost by the partner's catalogue; without it the catalogue is not asked.",
      ),
  })
  .meta({
    title: 'PurchaseInput',
    description: `The one argument of purchaseWorkflow. A product stands in it once; ${MAX_KEYS} keys in all at the most.`,
  });

export type PurchaseInput = z.infer<typeof purchaseInput>;

const purchaseLine = z.object({
  productId: z.string(),
  title: z.string().optional(),
  quantity: z.int().describe('What was ordered.'),
  delivered: z.int().describe('The keys that were delivered.'),
});

/** What became of one product of a purchase. */
export type PurchaseLine = z.infer<typeof purchaseLine>;

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
      .describe('Someone asked to cancel when an order could already exist, so the order was completed.'),
    reason: reason.optional(),
  })
  .meta({
    title: 'PurchaseResult',
    description: 'The result of purchaseWorkflow: how a purchase ended. Fields may be added.',
  });

export type PurchaseResult = z.infer<typeof purchaseResult>;

/** An event that the checkout has received. */
const receivedEvent = z.object({
  id: z.string(),
  type: z.string(),
  /** ISO 8601: when it was received. */
  at: z.string(),
});

export type ReceivedEvent = z.infer<typeof receivedEvent>;

/** What is shown of a hold. `id` names this hold and no other, also after a reset of the workflow. */
const holdNotice = z.object({
  id: z.string(),
  reason: z.enum(HOLD_REASONS),
  explanation: z.string(),
  decisions: z.array(z.enum(DECISION_KINDS)),
  /** ISO 8601: when it was opened. */
  since: z.string(),
  /** A cancel request ends it, after one more search of the order history: nothing was bought. */
  endsOnCancel: z.boolean().optional(),
});

export type HoldNotice = z.infer<typeof holdNotice>;

/** The open hold of a memo, whoever wrote it and whatever else is in it. */
export function holdIn(memo: Record<string, unknown> | undefined): HoldNotice | undefined {
  return holdNotice.safeParse(memo?.hold).data;
}

const keyIds = z.record(z.string(), z.array(z.string()));

/** What operators have accepted of one order: its items, its owner, surplus keys. It is `Accepted` of domain/review-order.ts. */
const acceptedOrder = z.object({
  orderId: z.string(),
  items: z.array(z.object({ productId: z.string(), quantity: z.number().optional(), keys: z.number() })).optional(),
  owner: z.boolean().optional(),
  surplus: z.number().optional(),
});

export type AcceptedOrder = z.infer<typeof acceptedOrder>;

/** JSON of other clients has null where there is nothing. */
const absentOr = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);

/**
 * The memo of a purchase: what a list shows without opening each. While it runs, `hold`; the rest when it ends. Whoever starts a
 * workflow may give it any memo, so it is only believed of a purchase that has completed, apart from `hold`.
 */
export const purchaseMemo = z.object({
  totalDebit: absentOr(z.number()),
  /** How many keys were bought; if an operator has accepted an order's items, how many it is to bring. */
  ordered: absentOr(z.number()),
  delivered: absentOr(z.number()),
  /** The ids of all keys that the checkout has confirmed, over all runs and deliveries, by product. Never the keys. */
  keyIds: absentOr(keyIds),
  /** Those of its own outcome event, if earlier runs had delivered others. */
  outcomeKeyIds: absentOr(keyIds),
  events: absentOr(z.array(receivedEvent)),
  /** How it ended, in words, if the outcome alone does not say it. */
  reason: absentOr(z.string()),
  hold: absentOr(holdNotice),
  /** What operators have accepted. Keys that come after the end are delivered on this ground. */
  accepted: absentOr(acceptedOrder),
});

export type PurchaseMemo = z.infer<typeof purchaseMemo>;

/** The memo of `deliverWorkflow` when it has completed. */
export const deliveryMemo = purchaseMemo.pick({ events: true, keyIds: true, ordered: true }).extend({
  orderId: absentOr(z.string()),
});

export type DeliveryMemo = z.infer<typeof deliveryMemo>;

/** What an operator decides. `order` names the partner's order that this purchase is to adopt. */
export type DecisionChoice = { decision: 'order'; orderId: string } | { decision: Exclude<DecisionKind, 'order'> };

/** The argument of the `resolve` update. `hold` is the id of the hold that is answered. */
export type Decision = DecisionChoice & { hold: string };

/**
 * What a running purchase needs of the worker's settings, in milliseconds. It reaches the workflow as a recorded result, so a
 * purchase keeps the settings that it began with.
 */
export interface PurchaseSettings {
  placeWithinMs: number;
  firstPollMs: number;
  pollIntervalMs: number;
  /** Whether every open order is polled, or the order history is read for all of them. */
  watch: 'orders' | 'history';
  deadlineMs: number;
  confirmWindowMs: number;
  replace: 'never' | 'answered' | 'always';
  partnerTimeoutMs: number;
  deliveryTimeoutMs: number;
}

const nextStep = z.object({
  /** In words. */
  what: z.string(),
  since: z.string(),
  /** When it is over at the latest, if that is known. */
  until: z.string().optional(),
});

/** What a running purchase waits for. Instants are ISO 8601. */
export type NextStep = z.infer<typeof nextStep>;

/** What an answer of the query `status` says that the purchase waits for, whatever else the answer contains. */
export function nextStepIn(answer: unknown): NextStep | undefined {
  return nextStep.safeParse((answer as { waitsFor?: unknown } | null | undefined)?.waitsFor).data;
}

/**
 * The answer of the query `status`: where a purchase stands, as its workflow knows it, also after its end. Instants are ISO
 * 8601. The attempts of a pending activity are not known in there: `status` of the starter shows them.
 */
export interface StatusAnswer {
  referenceId: string;
  items: PurchaseItem[];
  maxDebit?: number;
  state: PurchaseState;
  /** Since when it is in this state. */
  since: string;
  orderId?: string;
  /** What is happening, or how it ended, in words. */
  explanation: string;
  /** What it waits for; absent once it has ended. */
  waitsFor?: NextStep;
  /** The hold that waits for a decision. */
  hold?: HoldNotice;
  /** What the last poll of the order showed that the workflow knows of. */
  lastPoll?: { status: string; at: string };
  /** Someone has asked to cancel it. */
  cancelRequested: boolean;
  /** What the checkout has received. */
  events: ReceivedEvent[];
  result?: PurchaseResult;
}
