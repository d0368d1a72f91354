import { z } from 'zod';

/** The body of an event, as it is posted and as a TypeScript checkout may parse it. Fields may be added. */
export const deliveryEventSchema = z.looseObject({
  type: z.string(),
  /** ISO 8601: when it happened. */
  timestamp: z.string(),
  data: z.looseObject({
    referenceId: z.string(),
    orderId: z.string().optional(),
    outcome: z.string().optional(),
    totalDebit: z.number().optional(),
    reason: z.string().optional(),
    /** With `purchase.held`: why, and what a person may decide. */
    hold: z.string().optional(),
    decisions: z.array(z.string()).optional(),
    /** With `purchase.attention`. */
    kind: z.string().optional(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())])).optional(),
    lines: z
      .array(
        z.looseObject({
          productId: z.string(),
          title: z.string().optional(),
          quantity: z.number(),
          keys: z.array(z.object({ type: z.string(), value: z.string() })).optional(),
        }),
      )
      .optional(),
  }),
});

export type DeliveryEventBody = z.infer<typeof deliveryEventSchema>;

/** An event on its way: `id` is the same for every attempt. */
export interface DeliveryEvent {
  id: string;
  body: DeliveryEventBody;
}

/** Where events go. */
export interface Delivery {
  /** One attempt at one event. Resolves when the checkout has it. @throws DeliveryError */
  deliver(event: DeliveryEvent): Promise<void>;
  close(): Promise<void>;
}
