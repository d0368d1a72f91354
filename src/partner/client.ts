import { z } from 'zod';
import { isSafeOrderId } from '../domain/order';
import { type ExpectedAnswer, readAnswer } from './read-answer';
import {
  addressOf,
  checkOrderId,
  orderBody,
  orderParams,
  productParams,
  readApiKey,
  type HistoryParams,
} from './arguments';
import { type AroundRequest, inside, type RequestFacts } from './around';
import { allOrders, allProducts, type HistoryOptions, ordersSince } from './lists';
import type { NamedRow } from './paged-list';
import { observeRequest, type PartnerObserver } from './observer';
import { openSlots, type OpenTurn, type RequestTurn } from './slots';
import { openTransport, type BeforeWrite, type Exchange, type TransportLimits, type WireRequest } from './transport';
import type {
  Answer,
  HistoryRow,
  NewOrder,
  Order,
  OrderPage,
  OrderQuery,
  Product,
  ProductPage,
  ProductQuery,
} from './types';
import * as wire from './schemas';

export interface PartnerClientOptions {
  /** `http` or `https`, with or without a path, without credentials, query or fragment. */
  baseUrl: string;
  /** Asked at each request, so that a rotated secret is picked up. Sent as `x-api-key` and nowhere else. */
  apiKey: () => string;
  /** Before `/products` and `/orders`. Default `/v1/partners`. */
  listPrefix?: string;
  /** Before `/place-order` and `/orders/{id}/keys`. The partner does not show it. Default empty. */
  orderPrefix?: string;
  /** The history's parameter names, which the partner does not show. Default `query`, `page`, `limit`. */
  historyParams?: HistoryParams;
  /** The total deadline of one request: connecting, headers and body. Default 15,000. */
  timeoutMs?: number;
  /** Spaces the requests, see `inTurn`. Waiting for a slot is not part of the deadline. Default: no ceiling. */
  maxRequestsPerSecond?: number;
  /** The largest body that is read. Image keys are large; the default is 32 MiB. */
  maxBodyBytes?: number;
  /** The time of day, epoch ms: for `notAfter`, and for a Retry-After that is a date. */
  now?: () => number;
  /** Sees each request, for metrics. */
  observer?: PartnerObserver;
  /** Go around each request, the first outermost. */
  around?: readonly AroundRequest[];
}

/**
 * The partner's four operations. Every method sends at most one request for each answer, follows no redirect and repeats
 * nothing by itself, unless told to; whatever fails throws a PartnerError.
 */
export interface PartnerClient {
  /** One page of the catalogue. */
  listProducts(query?: ProductQuery): Promise<Answer<ProductPage>>;
  /** The whole catalogue, each product once, even while pages shift. Throws a PartnerError of kind `incomplete` if rows stay missing. */
  products(query?: Omit<ProductQuery, 'page'>): AsyncGenerator<Product>;
  /** One page of the order history; a row that can't be read stands in `unreadable`. Which end is newest, and whether the search is exact, the partner does not show. */
  listOrders(query?: OrderQuery): Promise<Answer<OrderPage>>;
  /** The whole order history, each order once, even while orders come in. Throws as `products`. */
  orders(query?: Omit<OrderQuery, 'page'>, options?: { maxPages?: number }): AsyncGenerator<HistoryRow>;
  /**
   * The order history back to an instant (epoch ms), whichever end of it is newest, with as few requests as that takes. Older
   * orders may be among it. Throws as `products`, and nothing is given then: half a history is none.
   */
  ordersSince<Kept extends NamedRow = HistoryRow>(since: number, options?: HistoryOptions<Kept>): Promise<Kept[]>;
  /**
   * Places an order. What a PartnerError proves about it is its `placement`; only `NOT_SENT` makes a repetition safe.
   * With `notAfter` (epoch ms), a request that would come to its write later than that is not sent: kind `too-late`. So it
   * ends within `timeoutMs` after that instant, and what it ends with is what became of its write, also in a process that was
   * frozen meanwhile. `beforeWrite` is asked on a connection that stands, after the slot under the ceiling is had; without its
   * permission nothing is written: kind `withdrawn`.
   */
  placeOrder(order: NewOrder, options?: PlacementOptions): Promise<Answer<{ id: string }>>;
  /** An order with the keys delivered so far; these are taken out of its texts. An id that may not stand in a path throws before anything is sent. */
  getOrder(id: string): Promise<Answer<Order>>;
  /**
   * Does `work` with a client whose requests wait for their slots under this turn. Inside a turn, it goes on under that one. A
   * request that can't have a slot in time throws at once: kind `too-late`, and `permitInMs` says about when one may come. A
   * placement begins only where there is time for its search and its write.
   */
  withPermits<T>(ask: PermitRequest, work: (partner: PartnerClient) => Promise<T>): Promise<T>;
  /** Sends nothing any more, waits for what is under way, then closes the connections. */
  close(): Promise<void>;
}

export interface PermitRequest {
  class: 'placement' | 'delivery' | 'confirmation' | 'poll' | 'reconciliation';
  dueAt?: number;
  notAfter?: number;
  signal?: AbortSignal;
}

export interface PlacementOptions {
  notAfter?: number;
  beforeWrite?: BeforeWrite;
}

const DEFAULT_TIMEOUT_MS = 15_000;
const DEFAULT_BODY_BYTES = 32 * 1024 * 1024;

const placedOrder = z.object({ id: z.string().refine(isSafeOrderId, 'an id that may stand in a path') });

const ANSWERS = {
  listProducts: { schema: wire.answerWith(wire.productPage) },
  listOrders: { schema: wire.answerWith(wire.orderPage) },
  placeOrder: { schema: wire.answerWith(placedOrder) },
};
const ORDER_ANSWER = wire.answerWith(wire.orderWithKeys);

/** Another order's keys under this id would be handed to the wrong customer. */
function orderAnswer(orderId: string): ExpectedAnswer<Order> {
  const problemOf = ({ id }: Order) => (id === orderId ? undefined : 'details.data.id: the id that was asked for');
  return { schema: ORDER_ANSWER, problemOf };
}

/** A client of one partner account. Contacts nobody yet. */
export function createPartnerClient(options: PartnerClientOptions): PartnerClient {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxBodyBytes = DEFAULT_BODY_BYTES, now = Date.now, observer } = options;
  const { origin, listPath, orderPath } = addressOf(
    options.baseUrl,
    options.listPrefix ?? '/v1/partners',
    options.orderPrefix ?? '',
  );
  const historyParams = options.historyParams ?? { search: 'query', page: 'page', limit: 'limit' };
  const sender = openSender({ ...options, origin, timeoutMs, maxBodyBytes, now });

  function clientIn(opened: OpenTurn | undefined): PartnerClient {
    async function call<T>(facts: RequestFacts, request: Unsigned, answer: ExpectedAnswer<T>): Promise<Answer<T>> {
      const read = (exchange: Exchange) => readAnswer(exchange, facts.operation, answer, now());
      return sender.send(facts, request, opened, read);
    }

    const client: PartnerClient = {
      async listProducts(query = {}) {
        const path = `${listPath}/products${productParams(query)}`;
        return call({ operation: 'listProducts' }, { method: 'GET', path }, ANSWERS.listProducts);
      },
      products: (query = {}) => allProducts(client, query),
      async listOrders(query = {}) {
        const path = `${listPath}/orders${orderParams(query, historyParams)}`;
        return call({ operation: 'listOrders' }, { method: 'GET', path }, ANSWERS.listOrders);
      },
      orders: (query = {}, { maxPages } = {}) => allOrders(client, query, maxPages),
      ordersSince: (since, reading = {}) => ordersSince(client, since, reading),
      async placeOrder(order, { notAfter, beforeWrite } = {}) {
        const path = `${orderPath}/place-order`;
        const request: Unsigned = { method: 'POST', path, body: orderBody(order), notAfter, beforeWrite };
        const { referenceId } = order;
        return call({ operation: 'placeOrder', referenceId }, request, ANSWERS.placeOrder);
      },
      async getOrder(id) {
        checkOrderId(id);
        const path = `${orderPath}/orders/${id}/keys`;
        const answer = await call({ operation: 'getOrder', orderId: id }, { method: 'GET', path }, orderAnswer(id));
        if (answer.data.balance) observer?.balanceSeen(answer.data.balance);
        return answer;
      },
      withPermits: ({ class: kind, dueAt: due, notAfter, signal }, work) => {
        const turn: RequestTurn = { priority: kind === 'confirmation' ? 'search' : kind, due, notAfter, signal };
        return opened ? work(client) : sender.inTurn(turn, (own) => work(clientIn(own)));
      },
      close: sender.close,
    };
    return client;
  }
  return clientIn(undefined);
}

type Unsigned = Omit<WireRequest, 'headers'>;

type SenderOptions = Pick<PartnerClientOptions, 'apiKey' | 'maxRequestsPerSecond' | 'observer' | 'around'> &
  TransportLimits & { origin: string };

/** Signs and sends, each request in its slot, until closed. */
function openSender(options: SenderOptions) {
  const { observer, around = [] } = options;
  const transport = openTransport(options.origin, options);
  const slots = openSlots(options);
  const underWay = new Set<Promise<Exchange>>();

  /** @returns what `read` makes of the answer. */
  async function send<T>(
    facts: RequestFacts,
    request: Unsigned,
    turn: OpenTurn | undefined,
    read: (exchange: Exchange) => Answer<T>,
  ): Promise<Answer<T>> {
    const { operation } = facts;
    const { method, notAfter } = request;
    await slots.wait(operation, { isWrite: method === 'POST', notAfter }, turn);
    const headers = headersOf(readApiKey(options.apiKey, operation), request.body !== undefined);
    const sendOnce = async () => {
      const exchange = transport.send({ ...request, headers });
      underWay.add(exchange);
      return read(await exchange.finally(() => underWay.delete(exchange)));
    };
    return inside(around, facts, () => observeRequest(observer, operation, sendOnce));
  }

  async function close(): Promise<void> {
    slots.close();
    await Promise.allSettled(underWay);
    await transport.close();
  }

  return { send, inTurn: slots.inTurn, close };
}

function headersOf(apiKey: string, hasBody: boolean): Record<string, string> {
  const headers = { 'x-api-key': apiKey, accept: 'application/json' };
  return hasBody ? { ...headers, 'content-type': 'application/json' } : headers;
}
