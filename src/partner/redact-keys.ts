/** A shorter key is found in a text by chance. */
const SHORTEST = 6;
const IN_ITS_PLACE = '[key]';

interface OrderTexts {
  status: string;
  products: { id: string; title?: string | undefined; keys: readonly { value: string }[] }[];
}

/**
 * The order with its own keys taken out of the texts that are shown of it, and these cut to a length. A partner may write a
 * key into a title, a product id or a status, and these go into histories, lists and logs. A key of another order can't be
 * told from a title.
 */
export function redactKeys<Order extends OrderTexts>(order: Order, longest: number): Order {
  const values = order.products.flatMap((product) => product.keys.map((key) => key.value));
  const shown = [order.status, ...order.products.flatMap(({ id, title }) => [id, title ?? ''])].join('\n');
  const quoted = [...new Set(values)]
    .filter((value) => value.length >= SHORTEST && shown.includes(value))
    // A key may be the beginning of another, whose rest would stay.
    .toSorted((one, other) => other.length - one.length);
  const clean = (text: string) =>
    quoted.reduce((left, value) => left.replaceAll(value, IN_ITS_PLACE), text).slice(0, longest);
  return {
    ...order,
    status: clean(order.status),
    products: order.products.map((product) => ({
      ...product,
      id: clean(product.id),
      title: product.title === undefined ? undefined : clean(product.title),
    })),
  };
}
