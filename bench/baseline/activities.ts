/*
 * The activities of the baseline: one request each, with fetch. Any response that is not 2xx throws, and Temporal retries
 * by default.
 */

export interface Item {
  productId: string;
  quantity: number;
}

export interface Order {
  status: string;
  products: { id: string; keys: { type: string; value: string }[] }[];
}

const { PARTNER_BASE_URL, PARTNER_API_KEY = '', DELIVERY_URL = '' } = process.env;

/** @returns the order's id */
export async function placeOrder(referenceId: string, items: Item[]): Promise<string> {
  const ordered = items.map(({ productId, quantity }) => ({ id: productId, quantity }));
  const order = await askPartner<{ id: string }>('/place-order', {
    method: 'POST',
    body: JSON.stringify({ reference_id: referenceId, items: ordered }),
  });
  return order.id;
}

export async function getOrder(orderId: string): Promise<Order> {
  return askPartner<Order>(`/orders/${orderId}/keys`, {});
}

export async function deliver(referenceId: string, { products }: Order): Promise<void> {
  const lines = products.map(({ id, keys }) => ({ productId: id, keys }));
  const response = await fetch(DELIVERY_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'purchase.delivered', data: { referenceId, lines } }),
  });
  await response.text();
  if (!response.ok) throw new Error(`the checkout returned ${response.status}`);
}

async function askPartner<T>(path: string, init: RequestInit): Promise<T> {
  const headers = { 'x-api-key': PARTNER_API_KEY, 'content-type': 'application/json' };
  const response = await fetch(`${PARTNER_BASE_URL}${path}`, { ...init, headers });
  if (!response.ok) throw new Error(`the partner returned ${response.status}`);
  const { details } = (await response.json()) as { details: { data: T } };
  return details.data;
}
