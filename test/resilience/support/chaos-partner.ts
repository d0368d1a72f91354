import { setTimeout as sleep } from 'node:timers/promises';
import { type Received, type Reply, startServer } from '../../support/http-server';
import { type Draw, drawOf } from '../bad-days/draw';

/** `bookedAt` is in epoch ms. */
type Ordered = { id: string; referenceId: string; bookedAt: number; items: { id: string; quantity: number }[] };

const NO_JSON = { body: '<h1>Thank you</h1>' };
const BUSY = { status: 503, headers: { 'retry-after': '1' } };
/** Responses to place-order that say nothing about an order, with and without a booked order. */
const UNCLEAR: Reply[] = ['reset', 'hang', NO_JSON, { status: 409 }, { status: 500 }, BUSY];
/** An order's status from this many ms on, and the number of extra keys it then has. The first two are normal. */
const LIVES: Record<number, string>[] = [
  { 0: 'COMPLETED' },
  { 0: 'PENDING', 1_500: 'PROCESSING', 4_000: 'COMPLETED' },
  { 0: 'PROCESSING', 35_000: 'COMPLETED' },
  { 0: 'PENDING', 1_000: 'PARTIAL_COMPLETED -1', 30_000: 'COMPLETED' },
  { 0: 'PARTIAL_COMPLETED -1' },
  { 0: 'COMPLETED -1' },
  { 0: 'COMPLETED +1' },
  { 0: 'PENDING', 1_000: 'FAILED' },
  { 0: 'PENDING', 1_000: 'REFUNDED' },
  { 0: 'COMPLETED', 30_000: 'REFUNDED' },
];
/** No decision depends on a balance or a debit, so their shapes may differ from the documented ones. */
const UNEXPECTED_BALANCES = [1_000, [], { balance: '1000.00', credit_limit: 'unlimited' }, { balance: 2 ** 60 }];
/** The weaknesses of the order history, 5 s each. Its lag is shorter than the confirmation window. */
const HISTORIES = { exact: 6, fuzzy: 3, ignored: 2, lags: 3, down: 1, slow: 1, 'a bad row': 2 };

function fateOf(draw: Draw) {
  return {
    placing: draw.weighted({ fine: 60, unclear: 35, refused: 5 }),
    reply: { fine: undefined, unclear: draw.pick(UNCLEAR), refused: { status: draw.pick([401, 422]) } },
    /** Measured from the request; never if absent. */
    unclearBooksAfterMs: draw.pick([0, 0, 800, undefined]),
    respondsAfterMs: draw.chance(0.1) ? 1_200 : 10,
    life: draw.pick(draw.chance(0.25) ? LIVES : LIVES.slice(0, 2)),
    /** The responses to the first reads of its order. */
    reads: [1, 2, 3].map(() => (draw.chance(0.2) ? draw.pick([...UNCLEAR, { status: 404 }]) : undefined)),
    unexpected: draw.chance(0.2) ? { balance: draw.pick(UNEXPECTED_BALANCES), total_debit: '1.50' } : {},
    /** How long the row of its order can't be read. */
    badRowMs: draw.chance(0.06) ? draw.from(500, 5_000) : 0,
    requests: 0,
  };
}

/**
 * The partner of the chaos run. It shares no code with the sandbox, so it exposes mistakes that the sandbox and the
 * worker have in common. A purchase's faults follow from the seed and the number at the end of its reference.
 */
export async function startChaosPartner(seed: number) {
  const orders: Ordered[] = [];
  const fates: Record<string, ReturnType<typeof fateOf>> = {};
  const beganAt = Date.now();
  let healed = false;

  const fate = (referenceId: string) =>
    (fates[referenceId] ??= fateOf(drawOf(seed * 10_000 + Number(referenceId.split('-').at(-1)))));
  const ageOf = ({ bookedAt }: Ordered) => (healed ? Infinity : Date.now() - bookedAt);
  const shownNow = (order: Ordered) => {
    const stages = Object.entries(fate(order.referenceId).life);
    const [status = '', surplus = 0] = stages.findLast(([fromMs]) => Number(fromMs) <= ageOf(order))![1].split(' ');
    const products = order.items.map(({ id, quantity }) => {
      const count = status.endsWith('COMPLETED') ? quantity + Number(surplus) : 0;
      const keys = Array.from({ length: count }, (_, key) => ({ type: 'text', value: `KEY/${order.id}/${id}/${key}` }));
      return { id, title: `${id} \u{1f3ae}`, quantity, keys };
    });
    return { id: order.id, status, products, keys: products.flatMap(({ keys }) => keys.map(({ value }) => value)) };
  };

  async function place({ body }: Received): Promise<Reply> {
    const { items, reference_id: referenceId } = JSON.parse(body.toString('utf8'));
    const own = fate(referenceId);
    own.requests += 1;
    const placing = own.requests > 1 || healed ? 'fine' : own.placing;
    const booksAfterMs = { fine: 0, unclear: own.unclearBooksAfterMs, refused: undefined }[placing];
    const book = () => orders.push({ id: `ord-${orders.length + 1}`, referenceId, items, bookedAt: Date.now() });
    if (booksAfterMs) setTimeout(book, booksAfterMs);
    else if (booksAfterMs === 0) book();
    const id = orders.at(-1)?.id;
    await sleep(own.respondsAfterMs);
    return own.reply[placing] ?? good({ id });
  }

  async function list(params: URLSearchParams): Promise<Reply> {
    const turn = Math.floor((Date.now() - beganAt) / 5_000);
    const mode = healed ? 'exact' : drawOf(seed + turn / 1_000).weighted(HISTORIES);
    if (mode === 'down') return BUSY;
    if (mode === 'slow') await sleep(900);
    const query = mode === 'ignored' ? '' : (params.get('query') ?? '');
    const lagMs = mode === 'lags' ? (query ? 1_500 : 300) : 0;
    const isFound = ({ referenceId, id }: Ordered) =>
      mode === 'fuzzy' ? `${referenceId} ${id}`.includes(query) : ['', referenceId, id].includes(query);
    const shown = orders.filter((order) => ageOf(order) >= lagMs && isFound(order));
    const rows = shown.toSorted((one, other) => other.bookedAt - one.bookedAt).map(rowOf);
    const all = mode === 'a bad row' ? [{ id: null, reference_id: null, status: null }, ...rows] : rows;
    const [page, limit] = [Number(params.get('page') ?? 1), Number(params.get('limit') ?? 50)];
    const pages = { page, limit, total: Math.max(1, Math.ceil(all.length / limit)) };
    return good({ hits: all.length, orders: all.slice((page - 1) * limit, page * limit), pages });
  }

  function rowOf(order: Ordered) {
    const { id, referenceId, bookedAt, items } = order;
    const status = ageOf(order) < fate(referenceId).badRowMs ? null : shownNow(order).status;
    return { id, reference_id: referenceId, status, item: items[0], created_at: new Date(bookedAt).toISOString() };
  }

  function read(orderId: string): Reply {
    const order = orders.find(({ id }) => id === orderId);
    if (!order) return { status: 404 };
    const { reads, unexpected } = fate(order.referenceId);
    const reply = healed ? undefined : reads.shift();
    return reply ?? good({ ...shownNow(order), ...unexpected });
  }

  const { url } = await startServer({
    respond(request) {
      const { pathname, searchParams } = new URL(request.path, 'http://partner');
      if (request.method === 'POST' && pathname === '/place-order') return place(request);
      return pathname === '/v1/partners/orders' ? list(searchParams) : read(pathname.split('/')[2] ?? '');
    },
  });
  return {
    url,
    fateOf: fate,
    /**
     * The present orders under a reference. `keys` holds their values, which also appear in undocumented fields of
     * responses.
     */
    ordersOf: (referenceId: string) => orders.filter((order) => order.referenceId === referenceId).map(shownNow),
    /** From now on nothing fails, and every order has its final status. */
    heal: () => void (healed = true),
  };
}

function good(data: unknown): Reply {
  return { json: { status: 200, success: true, details: { data, extensions: {} } } };
}
