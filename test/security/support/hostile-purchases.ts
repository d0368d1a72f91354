import type { Decision } from '../../../src/domain/holds';
import type { Reply } from '../../support/http-server';
import type { Answer, Attempt } from '../../support/receiver';
import { BROKEN_RESPONSES, headerText, type HostileResponse, WRONG_FIELDS } from './hostile-responses';
import type { Envelope, HistoryData, OrderData, Twist } from './hostile-partner';
import type { Checkout } from './hostile-environment';

/** A key of a foreign order, which the partner quotes wherever it can. */
export const STRANGERS_KEY = 'S7RNG-"3R5\\K-E9Y0Q-2ZV8M';

/** A purchase with hostile responses, and the operator's decisions for it. */
export interface UglyPurchase {
  items?: Record<string, number>;
  twist?: Twist;
  checkout?: Checkout;
  /** The decisions for its holds, one for each. */
  decisions?: Decision[];
  /** Default: `DELIVERED`. */
  outcome?: string;
}

/** An order with a wrong response to every read until `pass` is called. */
export interface WrongLooks {
  twist: Twist;
  /** Keeps the sandbox's response once, or from now on. */
  pass(howMany: number): void;
}

/** One for each wrong response to a read, by its name. */
export function wrongLooks(): [name: string, looks: WrongLooks][] {
  return Object.values({ ...BROKEN_RESPONSES, ...WRONG_FIELDS }).map((answer, index) => {
    let passing = 0;
    const twist = lookTwist(() => (passing-- > 0 ? undefined : answer));
    return [`look-${index + 1}`, { twist, pass: (howMany) => void (passing = howMany) }];
  });
}

/** Responses to place-order and to searches of the history. */
export const WRONG_PLACEMENTS: Record<string, UglyPurchase> = {
  'refused-order': { twist: placeTwist((said) => ({ status: 400, body: said })), outcome: 'REJECTED' },
  'refused-key': { twist: placeTwist((said) => ({ status: 401, json: { message: said } })) },
  'place-500': { twist: placeTwist((said) => ({ status: 500, body: `<pre>${said}</pre>` })) },
  'place-half': {
    twist: placeTwist((said) => ({ raw: `HTTP/1.1 200 OK\r\n\r\n{"status":200,"details":"${said}` }), true),
  },
  'place-garbage': { twist: placeTwist((said) => ({ raw: `${said}\r\n\r\n` }), true) },
  'place-redirect': {
    twist: placeTwist((said) => ({ status: 307, headers: { location: `/${encodeURIComponent(said)}` } }), true),
  },
  'place-strange-id': {
    twist: placeTwist((said) => ({ json: { status: 200, success: true, details: { data: { id: said } } } }), true),
  },
  'place-lost': {
    twist: async ({ operation, nth, apiKey }) => {
      if (operation === 'place') return 'hang';
      return operation === 'orders' && nth > 1 ? { status: 503, body: quoting(apiKey) } : undefined;
    },
    decisions: ['abandon'],
    outcome: 'ABANDONED',
  },
  'search-fails': {
    twist: async ({ operation, nth, apiKey }) =>
      operation === 'orders' && nth === 1 ? { status: 503, body: quoting(apiKey) } : undefined,
  },
};

/** Orders that reveal too much, and orders that need a decision. */
export const STRANGE_ORDERS: Record<string, UglyPurchase> = {
  plain: { items: { 'demo-instant': 3, 'demo-image': 1 } },
  'own-key-in-title': { twist: productTwist((_, key) => ({ title: `Card ${key}` })) },
  'own-key-in-product-id': {
    twist: productTwist((_, key) => ({ id: `card-${key}` })),
    decisions: ['deliver'],
    outcome: 'PARTIALLY_DELIVERED',
  },
  'keys-of-a-failed-order': { twist: orderTwist((order) => ({ ...order, status: 'FAILED' })), outcome: 'FAILED' },
  'keys-of-a-refunded-order': { twist: orderTwist((order) => ({ ...order, status: 'REFUNDED' })), outcome: 'REFUNDED' },
  'more-keys': {
    twist: productTwist(({ keys }) => ({ keys: [...keys, { value: STRANGERS_KEY, type: 'text' }] })),
    decisions: ['withhold'],
    outcome: 'ABANDONED',
  },
  'key-gone': keysGoneInBetween(),
  'keys-that-change': { ...keysThatChange(), decisions: ['withhold'], outcome: 'ABANDONED' },
  'type-of-a-key': {
    twist: productTwist(({ keys }) => ({ keys: keys.map((key) => ({ ...key, type: `text ${STRANGERS_KEY}` })) })),
  },
};

/** Checkouts that send back everything they received. */
export const RUDE_CHECKOUTS: Record<string, UglyPurchase> = {
  'echo-500': { checkout: answering(500) },
  'echo-redirect': { checkout: answering(307) },
  'echo-410': { checkout: refusing, decisions: ['withhold'], outcome: 'ABANDONED' },
  'echo-garbage': {
    checkout: (attempt, nth) => (nth === 1 ? { raw: `${JSON.stringify(attempt)}\r\n\r\n` } : undefined),
  },
  'checkout-hangs': { checkout: (_, nth) => (nth === 1 ? 'hang' : undefined) },
  'checkout-resets': { checkout: (_, nth) => (nth === 1 ? 'reset' : undefined) },
};

function quoting(...secrets: string[]): string {
  return [...secrets, STRANGERS_KEY].join(' ');
}

function lookTwist(responseTo: () => HostileResponse | undefined): Twist {
  return async ({ operation, apiKey, plain }) => {
    const answer = operation === 'keys' ? responseTo() : undefined;
    if (!answer) return undefined;
    const order = await plain<OrderData>();
    const key = order.details.data.products[0]?.keys[0]?.value ?? STRANGERS_KEY;
    return answer(quoting(key, apiKey), order, key);
  };
}

/**
 * The keys are different when they are read for the second delivery attempt, however often the order was polled before.
 */
function keysGoneInBetween(): Pick<UglyPurchase, 'checkout' | 'twist'> {
  let areGone = false;
  return {
    checkout: (_, nth) => {
      areGone = nth === 1;
      return areGone ? { status: 500 } : undefined;
    },
    twist: lookTwist(() => {
      const answer = areGone ? withKey(STRANGERS_KEY) : undefined;
      areGone = false;
      return answer;
    }),
  };
}

/** Different keys at each read. */
function keysThatChange(): Pick<UglyPurchase, 'twist'> {
  let looks = 0;
  return { twist: lookTwist(() => withKey(`${STRANGERS_KEY}-${++looks}`)) };
}

type ChangeOrder = (order: OrderData, key: string) => OrderData;
type ChangeProduct = (product: OrderData['products'][number], key: string) => object;

function orderTwist(change: ChangeOrder): Twist {
  return lookTwist(() => changed(change));
}

function productTwist(change: ChangeProduct): Twist {
  return orderTwist(eachProduct(change));
}

function withKey(value: string): HostileResponse {
  return changed(eachProduct(() => ({ keys: [{ type: 'text', value }] })));
}

function changed(change: ChangeOrder): HostileResponse {
  return (_, plain, key) => {
    const { details } = plain;
    return { json: { ...plain, details: { ...details, data: change(details.data, key) } } };
  };
}

function eachProduct(change: ChangeProduct): ChangeOrder {
  return (order, key) => {
    const products = order.products.map((product) => ({ ...product, ...change(product, key) }));
    return { ...order, products };
  };
}

/** The first place-order gets this response, with or without an order; the history then contains secrets. */
function placeTwist(answer: (said: string) => Reply, buys = false): Twist {
  return async ({ operation, nth, apiKey, plain }) => {
    if (operation === 'orders') return { json: withSecrets(await plain<HistoryData>()) };
    if (operation !== 'place' || nth > 1) return undefined;
    if (buys) await plain();
    return answer(quoting(apiKey));
  };
}

/** A date with a secret would make the row unreadable. */
function withSecrets(history: Envelope<HistoryData>): Envelope<HistoryData> {
  const { details } = history;
  const orders = details.data.orders.map((order) => ({
    ...order,
    status: STRANGERS_KEY,
    item: { id: STRANGERS_KEY, title: STRANGERS_KEY },
  }));
  return { ...history, details: { ...details, data: { ...details.data, orders } } };
}

function answering(status: number): Checkout {
  return (attempt, nth) => (nth === 1 ? echo(status, attempt) : undefined);
}

/** On a busy machine the first attempt may not see its response. */
function refusing(attempt: Attempt): Answer | undefined {
  return attempt.body.type === 'purchase.delivered' ? echo(410, attempt) : undefined;
}

function echo(status: number, attempt: Attempt): Answer {
  const said = JSON.stringify(attempt);
  const headers = { 'x-echo': headerText(said), 'retry-after': headerText(said), location: `/${headerText(said)}` };
  return { status, headers, body: said };
}
