import { z } from 'zod';
import type { PurchaseInput, PurchaseLine, PurchaseResult } from '../contracts/purchase';
import { PURCHASE_OUTCOMES } from '../domain/outcome';
import { REFERENCE_PATTERN } from '../domain/order';
import { MAX_ITEMS, MAX_KEYS, MAX_PRODUCT_ID, MAX_QUANTITY } from '../domain/purchase-rules';
import type { AllTrue, Same } from './same';

const productId = z.string().min(1).max(MAX_PRODUCT_ID).describe("The partner's id of the product.");
const quantity = z.int().min(1).max(MAX_QUANTITY);

/** What every event and result says of the sale. */
export const referenceId = z.string().regex(REFERENCE_PATTERN).describe("The checkout's reference of the sale.");
export const orderId = z.string().describe("The partner's id of the order; absent where there is none.");
export const outcome = z.enum(PURCHASE_OUTCOMES);
export const totalDebit = z
  .number()
  .describe("What was debited: the partner's decimal number as it came, in the account's currency.");
export const reason = z.string().describe('In words, where the outcome alone does not say it.');

/** The one argument of `purchaseWorkflow`. */
export const purchaseInput = z
  .object({
    referenceId: referenceId.describe('One for each sale, never used again.'),
    items: z.array(z.object({ productId, quantity })).min(1).max(MAX_ITEMS),
    maxDebit: z
      .number()
      .min(0)
      .optional()
      .describe(
        'The most that the purchase may cost by the catalogue of the partner; without it the catalogue is not asked.',
      ),
  })
  .meta({
    title: 'PurchaseInput',
    description: `The one argument of purchaseWorkflow. A product stands in it once; ${MAX_KEYS} keys in all at the most.`,
  });

const purchaseLine = z.object({
  productId: z.string(),
  title: z.string().optional(),
  quantity: z.int().describe('What was ordered.'),
  delivered: z.int().describe('The keys that were handed over.'),
});

/** The result of `purchaseWorkflow`. */
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
      .describe('Someone asked to cancel when an order could already exist, so it was seen through.'),
    reason: reason.optional(),
  })
  .meta({
    title: 'PurchaseResult',
    description: 'The result of purchaseWorkflow: how a purchase ended. Fields may be added.',
  });

/**
 * Does not compile where a schema and the type that it describes differ in either direction.
 *
 * @public for nobody: so that it counts as used
 */
export type Checked = AllTrue<
  [
    Same<z.infer<typeof purchaseInput>, PurchaseInput>,
    Same<z.infer<typeof purchaseLine>, PurchaseLine>,
    Same<z.infer<typeof purchaseResult>, PurchaseResult>,
  ]
>;
