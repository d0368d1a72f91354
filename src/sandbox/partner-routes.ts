import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answer';
import { readBody, TooLarge } from './body';
import { act, send, type Exchange } from './fault-wire';
import type { ActiveFault, Call, FaultCommit, Operation } from './faults';
import { BadInput } from './input';
import type { OrderRequest } from './ledger';
import * as operations from './operations';
import type { LoggedRequest } from './request-log';
import type { World } from './world';

interface Route {
  operation: Operation;
  method: 'GET' | 'POST';
  query: URLSearchParams;
  orderId?: string;
}

/** Answers one call of the partner's interface. */
export async function servePartner(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  connection: number,
): Promise<void> {
  const { answers } = world;
  const route = routeOf(world, request.url ?? '');
  const rightMethod = route !== undefined && route.method === request.method;
  const at = new Date(world.now()).toISOString();
  const logged = world.requests.arrived(request, connection, at, rightMethod ? route.operation : undefined);

  if (route === undefined) return send(response, answers.error(404, 'unknown_path', 'there is nothing at this path'));
  if (!rightMethod) {
    const allow = { allow: route.method };
    return send(response, answers.error(405, 'wrong_method', `this path takes ${route.method}`, allow));
  }
  if (!hasKey(world, request)) {
    return send(response, answers.error(401, 'unauthorized', 'the header x-api-key is missing or wrong'));
  }
  const exchange = { response, socket: request.socket, timers: world.timers, answers };
  const answer = await answered(world, route, request, exchange, logged);
  if (answer !== 'done') send(response, answer);
}

async function answered(
  world: World,
  route: Route,
  request: IncomingMessage,
  exchange: Exchange,
  logged: LoggedRequest,
): Promise<Answer | 'done'> {
  const early = world.faults.take(callOf(world, route), true);
  if (early?.action !== undefined) {
    const outcome = await act(early.action, exchange);
    if (outcome !== 'plain') return outcome;
  }
  try {
    const order = route.operation === 'place' ? operations.orderRequest(await json(request)) : undefined;
    if (order !== undefined) world.requests.placed(logged, order.referenceId);
    const fault = world.faults.take(callOf(world, route, order), false);
    return await withFault(world, route, order, exchange, fault);
  } catch (error) {
    if (error instanceof BadInput) return world.answers.error(400, 'bad_request', error.message);
    if (error instanceof NotJson) return world.answers.error(415, 'not_json', 'the content-type is not JSON');
    if (error instanceof TooLarge) return world.answers.error(413, 'too_large', error.message, { connection: 'close' });
    throw error;
  }
}

async function withFault(
  world: World,
  route: Route,
  order: OrderRequest | undefined,
  exchange: Exchange,
  fault: ActiveFault | undefined,
): Promise<Answer | 'done'> {
  const late = fault?.commit?.type === 'late';
  const commit = late ? undefined : fault?.commit;
  if (fault?.action === undefined) return perform(world, route, order, commit);

  if (fault.when === 'after') {
    const plain = await perform(world, route, order, commit);
    const outcome = await act(fault.action, exchange, plain);
    return outcome === 'plain' ? plain : outcome;
  }
  if (fault.commit?.type === 'late' && order !== undefined) commitLater(world, order, fault.commit);
  const outcome = await act(fault.action, exchange);
  if (outcome !== 'plain') return outcome;
  return late ? world.answers.error(504, 'scripted', 'the order is made later') : perform(world, route, order);
}

async function perform(
  world: World,
  { operation, query, orderId = '' }: Route,
  order?: OrderRequest,
  commit?: FaultCommit,
): Promise<Answer> {
  if (order !== undefined) return operations.place(world, order, commit);
  if (operation === 'keys') return operations.keys(world, orderId);
  if (operation === 'products') return operations.products(world, query);
  const page = operations.orders(world, query);
  letOthersOrder(world);
  return page;
}

/** Nobody hears of the outcome, so an order that is refused by then is simply not there. */
function commitLater(
  world: World,
  order: OrderRequest,
  { ms, historyRequests }: Extract<FaultCommit, { type: 'late' }>,
): void {
  const commit = (): void => void world.ledger.place(order);
  if (historyRequests !== undefined) world.history.afterRequests(historyRequests, commit);
  else world.timers.after(ms ?? 0, commit);
}

/** New orders at the newest end, so that the next page begins elsewhere. */
function letOthersOrder({ ledger, catalogue, settings, now, history }: World): void {
  const product = catalogue.get('demo-instant');
  for (let one = 1; product !== undefined && one <= settings.historyShift; one += 1) {
    ledger.addPast(`shift-${history.requests}-${one}`, product, 1, now());
  }
}

/** The path as it came: a path that is tidied up first would be another one. */
function routeOf({ settings }: World, url: string): Route | undefined {
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

function callOf({ settings }: World, { operation, query, orderId }: Route, order?: OrderRequest): Call {
  if (operation !== 'orders') return { operation, orderId, referenceId: order?.referenceId };
  const searched = query.get(settings.searchParam) ?? undefined;
  return { operation, orderId: searched, referenceId: searched };
}

function hasKey({ settings }: World, request: IncomingMessage): boolean {
  const given = request.headers['x-api-key'];
  return typeof given === 'string' && settings.apiKeys.some((key) => timingSafeEqual(hash(key), hash(given)));
}

function hash(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}

class NotJson extends Error {}

async function json(request: IncomingMessage): Promise<unknown> {
  const type = request.headers['content-type'] ?? 'application/json';
  const body = await readBody(request);
  if (!/^application\/([a-z.-]+\+)?json\b/i.test(type)) throw new NotJson();
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new BadInput('body: not JSON');
  }
}
