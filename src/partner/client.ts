import { type PartnerHooks, withHooks } from './hooks';
import { allOrders, allProducts, type HistoryOptions, ordersSince } from './lists';
import { type Call, createCalls, headersOf, type PartnerLayout, readResponse } from './operations';
import { type PermitRequest, type Permits, RateLimit } from './rate-limit';
import type { UnreadableRow } from './rows';
import { openTransport, type WireResponse, type WireRequest } from './transport';
import type { HistoryRow, NewOrder, Order, OrderPage, OrderQuery, PartnerResponse } from './types';
import type { Product, ProductPage, ProductQuery } from './types';

export interface PartnerClientOptions extends PartnerLayout, PartnerHooks {
  /** Called for each request, so that a rotated API key is picked up. Sent only as `x-api-key`. */
  apiKey: () => string;
  /** The total deadline of one request: connection, headers and body, but not the wait for a permit. Default 15,000. */
  timeoutMs?: number;
  /** Default: no rate limit. */
  maxRequestsPerSecond?: number;
  /** The largest body that is read (`PARTNER_MAX_BODY`). Default 32 MiB, because image keys are large. */
  maxBodyBytes?: number;
  /** Epoch ms. */
  now?: () => number;
}

/** Retries nothing unless an option says so. All failures are PartnerErrors. */
export interface PartnerClient {
  listProducts(query?: ProductQuery): Promise<PartnerResponse<ProductPage>>;
  /**
   * The whole catalogue: each readable product, once per price.
   * @param onUnreadable is called for each row that can't be read
   * @throws PartnerError `incomplete` if rows stay missing
   */
  products(query?: Omit<ProductQuery, 'page'>, onUnreadable?: (row: UnreadableRow) => void): AsyncGenerator<Product>;
  listOrders(query?: OrderQuery): Promise<PartnerResponse<OrderPage>>;
  /** The whole order history: each order once, even if orders arrive during the reading. Throws like `products`. */
  orders(query?: Omit<OrderQuery, 'page'>, options?: { maxPages?: number }): AsyncGenerator<HistoryRow>;
  /**
   * The new rows of each page, back to a time on our clock (epoch ms), however wrong the partner's clock is, and some
   * older ones. Throws like `products`, usually after the last page.
   */
  ordersSince(since: number, options?: HistoryOptions): AsyncGenerator<HistoryRow[]>;
  /**
   * Places an order. The `evidence` of an error says what it proves; only after `NOT_SENT` is a second request safe.
   * Ends at most `timeoutMs` after `notAfter`. Even after a freeze it knows whether the request was written.
   */
  placeOrder(order: NewOrder, options?: PlacementOptions): Promise<PartnerResponse<{ id: string }>>;
  /**
   * An order with the keys delivered so far. Keys are redacted in its texts and product ids, except in the product ids
   * of the purchase (`productIds`).
   */
  getOrder(id: string, productIds?: readonly string[]): Promise<PartnerResponse<Order>>;
  /**
   * Runs `work` with a client whose requests wait for permits as `ask` says. Nested calls share the outer permits.
   * @throws PartnerError `too-late`, at once, if no permit will be free in time; `permitInMs` says when to try again
   */
  withPermits<T>(ask: PermitRequest, work: (partner: PartnerClient) => Promise<T>): Promise<T>;
  /** Sends no more requests, waits for running ones, then closes the connections. */
  close(): Promise<void>;
}

type PlacementOptions = Pick<WireRequest, 'notAfter' | 'timeoutMs' | 'beforeWrite'>;

/** Creates a client for one partner account. Sends nothing yet. */
export function createPartnerClient(options: PartnerClientOptions): PartnerClient {
  const { now = Date.now, observer } = options;
  const calls = createCalls(options);
  const { send, rateLimit, close } = openSender(options, calls.origin);

  function clientWith(permits: Permits | undefined): PartnerClient {
    const client: PartnerClient = {
      listProducts: async (query = {}) => send(calls.listProducts(query), permits),
      products: (query = {}, onUnreadable) => allProducts(client, query, onUnreadable),
      listOrders: async (query = {}) => send(calls.listOrders(query), permits),
      orders: (query = {}, { maxPages } = {}) => allOrders(client, query, maxPages),
      ordersSince: (since, reading = {}) => ordersSince(client, since, now, reading),
      placeOrder: async (order, placement = {}) => send({ ...calls.placeOrder(order), ...placement }, permits),
      async getOrder(id, productIds = []) {
        const response = await send(calls.getOrder(id, productIds), permits);
        if (response.data.balance) observer?.balanceSeen(response.data.balance);
        return response;
      },
      withPermits: (ask, work) => (permits ? work(client) : rateLimit.withPermits(ask, (own) => work(clientWith(own)))),
      close,
    };
    return client;
  }
  return clientWith(undefined);
}

/** Sends requests as they get their permits. */
function openSender(options: PartnerClientOptions, origin: string) {
  const { apiKey, timeoutMs = 15_000, maxBodyBytes = 32 * 1024 * 1024, now = Date.now } = options;
  const transport = openTransport(origin, { timeoutMs, maxBodyBytes, now });
  const rateLimit = new RateLimit({ ...options, now });
  const underWay = new Set<Promise<WireResponse>>();

  async function send<T>(call: Call<T> & PlacementOptions, permits: Permits | undefined): Promise<PartnerResponse<T>> {
    const { facts, method, path, body, notAfter, timeoutMs, beforeWrite } = call;
    const { operation } = facts;
    await rateLimit.permit({ ...facts, isWrite: method === 'POST', notAfter }, permits);
    const headers = headersOf(apiKey, operation, body !== undefined);
    return withHooks(options, facts, async () => {
      const response = transport.send({ operation, method, path, headers, body, notAfter, timeoutMs, beforeWrite });
      underWay.add(response);
      return readResponse(await response.finally(() => underWay.delete(response)), call);
    });
  }

  async function close(): Promise<void> {
    rateLimit.close();
    await Promise.allSettled(underWay);
    await transport.close();
  }

  return { send, rateLimit, close };
}
