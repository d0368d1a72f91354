/** One product of a purchase. */
export interface PurchaseItem {
  /** The partner's id of the product. `npx fulfilment products` lists them. */
  productId: string;
  /** An integer from 1 to 1,000. */
  quantity: number;
}
