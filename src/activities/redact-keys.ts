import type { Order } from '../partner';

/** A shorter key is found in a text by chance. */
const SHORTEST = 6;
const IN_ITS_PLACE = '[key]';
/**
 * Texts of the partner are cut here, for a history is no place for more of them. One more than the longest product id that
 * can be bought, so that a longer one never looks like it.
 */
const LONGEST_SHOWN = 201;

/**
 * The order with the texts that are shown of it cut to a length, and its own keys taken out of them. A partner may write
 * a key into a title, a product id or a status, and these go into histories, lists and logs. A key of another order can't
 * be told from a title.
 */
export function redactKeys(order: Order): Order {
  const values = order.products.flatMap((product) => product.keys.map((key) => key.value));
  const shown = [order.status, ...order.products.flatMap(({ id, title }) => [id, title ?? ''])].join('\n');
  const quoted = [...new Set(values)]
    .filter((value) => value.length >= SHORTEST && shown.includes(value))
    // A key may be the beginning of another, whose rest would stay.
    .toSorted((one, other) => other.length - one.length);
  const clean = (text: string) =>
    quoted.reduce((left, value) => left.replaceAll(value, IN_ITS_PLACE), text).slice(0, LONGEST_SHOWN);
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
