import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { type Exchange, performAction } from './fault-actions';
import type { ActiveFault, Call, FaultCommit, Operation } from './faults';
import { readBody, type Reply, send, TooLarge } from './http';
import { BadInput, parseJson } from './input';
import type { OrderRequest } from './ledger';
import * as operations from './operations';
import type { LoggedRequest } from './request-log';
import type { SandboxState } from './state';

interface Route {
  operation: Operation;
  method: 'GET' | 'POST';
  query: URLSearchParams;
  orderId?: string;
}

/** Serves one call to the partner's API. */
export async function servePartner(
  state: SandboxState,
  request: IncomingMessage,
  response: ServerResponse,
  connection: number,
): Promise<void> {
  const { responses } = state;
  const route = routeOf(state, request.url ?? '');
  const rightMethod = route !== undefined && route.method === request.method;
  const at = new Date(state.now()).toISOString();
  const logged = state.requests.arrived(request, connection, at, rightMethod ? route.operation : undefined);
  const arrivedAt = performance.now();
  response.once('finish', () => void (logged.respondedAfterMs = performance.now() - arrivedAt));

  if (route === undefined) return send(response, responses.error(404, 'unknown_path', 'unknown path'));
  if (!rightMethod) {
    const allow = { allow: route.method };
    return send(response, responses.error(405, 'wrong_method', `this path needs ${route.method}`, allow));
  }
  if (!hasKey(state, request)) {
    return send(response, responses.error(401, 'unauthorized', 'the header x-api-key is missing or wrong'));
  }
  const untilDeleted = (signal: AbortSignal) => state.faults.untilDeleted(signal);
  const exchange = { response, socket: request.socket, responses, closing: state.closing.signal, untilDeleted };
  const reply = await replyTo(state, route, request, exchange, logged);
  if (reply !== 'done') send(response, reply);
}

async function replyTo(
  state: SandboxState,
  route: Route,
  request: IncomingMessage,
  exchange: Exchange,
  logged: LoggedRequest,
): Promise<Reply | 'done'> {
  const early = state.faults.take(callOf(state, route), true);
  if (early?.action !== undefined) {
    const outcome = await performAction(early.action, exchange);
    if (outcome !== 'normal') return outcome;
  }
  try {
    const order = route.operation === 'place' ? operations.orderRequest(await json(request)) : undefined;
    if (order !== undefined) state.requests.placed(logged, order.referenceId);
    const fault = state.faults.take(callOf(state, route, order), false);
    return await withFault(state, route, order, exchange, fault);
  } catch (error) {
    if (error instanceof BadInput) return state.responses.error(400, 'bad_request', error.message);
    if (error instanceof NotJson) return state.responses.error(415, 'not_json', 'the content-type is not JSON');
    if (error instanceof TooLarge)
      return state.responses.error(413, 'too_large', error.message, { connection: 'close' });
    throw error;
  }
}

async function withFault(
  state: SandboxState,
  route: Route,
  order: OrderRequest | undefined,
  exchange: Exchange,
  fault: ActiveFault | undefined,
): Promise<Reply | 'done'> {
  const late = fault?.commit?.type === 'late';
  const commit = late ? undefined : fault?.commit;
  if (fault?.action === undefined) return perform(state, route, order, commit);

  if (fault.when === 'after') {
    const normal = await perform(state, route, order, commit);
    const outcome = await performAction(fault.action, exchange, normal);
    return outcome === 'normal' ? normal : outcome;
  }
  if (fault.commit?.type === 'late' && order !== undefined) commitLater(state, order, fault.commit);
  const outcome = await performAction(fault.action, exchange);
  if (outcome !== 'normal') return outcome;
  return late ? state.responses.error(504, 'scripted', 'the order is committed later') : perform(state, route, order);
}

async function perform(
  state: SandboxState,
  { operation, query, orderId = '' }: Route,
  order?: OrderRequest,
  commit?: FaultCommit,
): Promise<Reply> {
  if (order !== undefined) return operations.place(state, order, commit);
  if (operation === 'keys') return operations.keys(state, orderId);
  if (operation === 'products') return operations.products(state, query);
  const page = operations.orders(state, query);
  addOtherOrders(state);
  return page;
}

/** The caller already has its response, so nothing reports a rejection at that time. */
function commitLater(
  state: SandboxState,
  order: OrderRequest,
  { ms, historyRequests }: Extract<FaultCommit, { type: 'late' }>,
): void {
  const commit = (): void => void state.ledger.place(order);
  if (historyRequests !== undefined) return state.history.afterRequests(historyRequests, commit);
  setTimeout(ms, undefined, { signal: state.closing.signal }).then(commit, () => undefined);
}

/** Adds orders at the newest end, so that the next page shifts. */
function addOtherOrders({ ledger, catalogue, settings, now, history }: SandboxState): void {
  const product = catalogue.get('demo-instant');
  for (let one = 1; product !== undefined && one <= settings.historyShift; one += 1) {
    ledger.addPastOrder(`shift-${history.requests}-${one}`, product, 1, now());
  }
}

/** Reads the raw path, because `new URL` would normalise it. */
function routeOf({ settings }: SandboxState, url: string): Route | undefined {
  const [path = '', search = ''] = url.split(/\?(.*)/s, 2);
  const query = new URLSearchParams(search);
  if (path === `${settings.listPrefix}/products`) return { operation: 'products', method: 'GET', query };
  if (path === `${settings.listPrefix}/orders`) return { operation: 'orders', method: 'GET', query };
  if (path === `${settings.orderPrefix}/place-order`) return { operation: 'place', method: 'POST', query };

  const start = `${settings.orderPrefix}/orders/`;
  const id = path.startsWith(start) ? /^([^/]+)\/keys$/.exec(path.slice(start.length))?.[1] : undefined;
  return id === undefined ? undefined : { operation: 'keys', method: 'GET', query, orderId: decoded(id) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function callOf({ settings }: SandboxState, { operation, query, orderId }: Route, order?: OrderRequest): Call {
  if (operation !== 'orders') return { operation, orderId, referenceId: order?.referenceId };
  const searched = query.get(settings.searchParam) ?? undefined;
  return { operation, orderId: searched, referenceId: searched };
}

function hasKey({ settings }: SandboxState, request: IncomingMessage): boolean {
  return settings.apiKeys.some((key) => key === request.headers['x-api-key']);
}

class NotJson extends Error {}

async function json(request: IncomingMessage): Promise<unknown> {
  const type = request.headers['content-type'] ?? 'application/json';
  const body = await readBody(request);
  if (!/^application\/([a-z.-]+\+)?json\b/i.test(type)) throw new NotJson();
  return parseJson(body);
}
