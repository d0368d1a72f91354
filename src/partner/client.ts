import { type PartnerHooks, withHooks } from './hooks';
import { allOrders, allProducts, type HistoryOptions, type NewestOrders, newestOrders, ordersSince } from './lists';
import { type Call, createCalls, headersOf, type PartnerLayout, readAnswer } from './operations';
import { type PermitRequest, type Permits, RateLimit } from './rate-limit';
import { openTransport, type WireAnswer, type WireRequest } from './transport';
import type { Answer, HistoryRow, NewOrder, Order, OrderPage, OrderQuery } from './types';
import type { Product, ProductPage, ProductQuery } from './types';

export interface PartnerClientOptions extends PartnerLayout, PartnerHooks {
  /** Asked at each request, so that a rotated secret is picked up. Sent as `x-api-key` and nowhere else. */
  apiKey: () => string;
  /** The total deadline of one request: connecting, headers and body, but not the wait for a permit. Default 15,000. */
  timeoutMs?: number;
  /** Default: no ceiling. */
  maxRequestsPerSecond?: number;
  /** The largest body that is read, `PARTNER_MAX_BODY`. Image keys are large; the default is 32 MiB. */
  maxBodyBytes?: number;
  /** The time of day, epoch ms. */
  now?: () => number;
}

/** Each call sends at most one request for each answer, and repeats nothing unless told to. What fails throws a PartnerError. */
export interface PartnerClient {
  listProducts(query?: ProductQuery): Promise<Answer<ProductPage>>;
  /** The whole catalogue, each readable product once. Throws kind `incomplete` if rows stay missing. */
  products(query?: Omit<ProductQuery, 'page'>): AsyncGenerator<Product>;
  listOrders(query?: OrderQuery): Promise<Answer<OrderPage>>;
  /** The whole order history, each order once, even while orders come in. Throws as `products`. */
  orders(query?: Omit<OrderQuery, 'page'>, options?: { maxPages?: number }): AsyncGenerator<HistoryRow>;
  /** The order history back to an instant (epoch ms), whichever end is newest; some rows may be older. Throws as `products`. */
  ordersSince<Kept = HistoryRow>(since: number, options?: HistoryOptions<Kept>): Promise<Kept[]>;
  /** At least `sampleSize` (1 to 500) of the newest orders, if there are as many. */
  newestOrders(sampleSize: number): Promise<NewestOrders>;
  /**
   * Places an order. What an error proves about the order is its `placement`; only `NOT_SENT` makes a second request safe. It
   * ends at most `timeoutMs` after `notAfter`, with the truth about the write even if the process was frozen.
   */
  placeOrder(order: NewOrder, options?: PlacementOptions): Promise<Answer<{ id: string }>>;
  /**
   * An order with the keys delivered so far. Its texts don't contain them, nor do the ids of products other than the `asked` ones,
   * which are those of the purchase.
   */
  getOrder(id: string, asked?: readonly string[]): Promise<Answer<Order>>;
  /**
   * Does `work` with a client whose requests wait for permits as `ask` says; within other work, as that one's. A request that
   * can't have one in time throws at once: kind `too-late`, and `permitInMs` says when to come back.
   */
  withPermits<T>(ask: PermitRequest, work: (partner: PartnerClient) => Promise<T>): Promise<T>;
  /** Sends nothing more, waits for what is on its way, then closes the connections. */
  close(): Promise<void>;
}

type PlacementOptions = Pick<WireRequest, 'notAfter' | 'beforeWrite'>;

/** A client of one partner account. Contacts nobody yet. */
export function createPartnerClient(options: PartnerClientOptions): PartnerClient {
  const { now = Date.now, observer } = options;
  const calls = createCalls(options);
  const { send, rateLimit, close } = openSender(options, calls.origin);

  function clientWith(permits: Permits | undefined): PartnerClient {
    const client: PartnerClient = {
      listProducts: async (query = {}) => send(calls.listProducts(query), permits),
      products: (query = {}) => allProducts(client, query),
      listOrders: async (query = {}) => send(calls.listOrders(query), permits),
      orders: (query = {}, { maxPages } = {}) => allOrders(client, query, maxPages),
      ordersSince: (since, reading = {}) => ordersSince(client, since, reading),
      newestOrders: (sampleSize) => newestOrders(client, sampleSize, now),
      placeOrder: async (order, placement = {}) => send({ ...calls.placeOrder(order), ...placement }, permits),
      async getOrder(id, asked = []) {
        const answer = await send(calls.getOrder(id, asked), permits);
        if (answer.data.balance) observer?.balanceSeen(answer.data.balance);
        return answer;
      },
      withPermits: (ask, work) => (permits ? work(client) : rateLimit.withPermits(ask, (own) => work(clientWith(own)))),
      close,
    };
    return client;
  }
  return clientWith(undefined);
}

/** Sends requests when they have their permits, until it is closed. */
function openSender(options: PartnerClientOptions, origin: string) {
  const { apiKey, timeoutMs = 15_000, maxBodyBytes = 32 * 1024 * 1024, now = Date.now } = options;
  const transport = openTransport(origin, { timeoutMs, maxBodyBytes, now });
  const rateLimit = new RateLimit({ ...options, now });
  const underWay = new Set<Promise<WireAnswer>>();

  async function send<T>(call: Call<T> & PlacementOptions, permits: Permits | undefined): Promise<Answer<T>> {
    const { facts, method, path, body, notAfter, beforeWrite } = call;
    const { operation } = facts;
    await rateLimit.permit({ ...facts, isWrite: method === 'POST', notAfter }, permits);
    const headers = headersOf(apiKey, operation, body !== undefined);
    return withHooks(options, facts, async () => {
      const answer = transport.send({ operation, method, path, headers, body, notAfter, beforeWrite });
      underWay.add(answer);
      return readAnswer(await answer.finally(() => underWay.delete(answer)), call);
    });
  }

  async function close(): Promise<void> {
    rateLimit.close();
    await Promise.allSettled(underWay);
    await transport.close();
  }

  return { send, rateLimit, close };
}
