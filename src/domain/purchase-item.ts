/** One product of a purchase. `quantity` is an integer from 1 to 1,000. */
export interface PurchaseItem {
  productId: string;
  quantity: number;
}
