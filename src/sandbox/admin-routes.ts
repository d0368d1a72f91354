import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, TooLarge } from './body';
import { readBooks } from './books';
import { send } from './fault-wire';
import { addPast, changeOrder, placeByHand } from './hand';
import { BadInput, fieldsOf } from './input';
import { advance, changeSettings, type World } from './world';

type Handler = (world: World, request: AdminRequest) => unknown;

interface AdminRequest {
  query: URLSearchParams;
  body: () => Promise<unknown>;
}

const ROUTES: Record<string, Handler> = {
  'GET /admin/books': (world, { query }) => readBooks(world, query.get('keys') === '1'),
  'GET /admin/requests': (world, { query }) => ({
    ...world.requests.report(),
    ...(query.get('log') === '1' ? { log: world.requests.log() } : {}),
  }),
  'GET /admin/faults': (world) => world.faults.list(),
  'POST /admin/faults': async (world, { body }) => world.faults.add(await body()),
  'DELETE /admin/faults': (world) => {
    world.faults.clear();
    return [];
  },
  'GET /admin/settings': (world) => withoutKeys(world),
  'POST /admin/settings': async (world, { body }) => {
    changeSettings(world, await body());
    return withoutKeys(world);
  },
  'POST /admin/clock': async (world, { body }) => {
    const { advanceMs } = fieldsOf(await body(), 'clock', ['advanceMs']);
    advance(world, typeof advanceMs === 'number' ? advanceMs : Number.NaN);
    return { advancedMs: advanceMs };
  },
  'POST /admin/orders': async (world, { body }) => placeByHand(world, await body()),
  'POST /admin/history': async (world, { body }) => addPast(world, await body()),
};

export function isAdmin(url: string): boolean {
  return /^\/admin(\/|$|\?)/.test(url);
}

/** Answers one call of the admin routes: plain JSON, no envelope, no API key. */
export async function serveAdmin(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', 'http://sandbox');
  const handler = handlerOf(`${request.method} ${url.pathname}`);
  if (handler === undefined) {
    const routes = [...Object.keys(ROUTES), 'PATCH /admin/orders/ID'];
    return send(response, { status: 404, body: { error: 'there is no such route', routes } });
  }
  const body = async (): Promise<unknown> => parsed(await readBody(request));
  try {
    send(response, { status: 200, body: await handler(world, { query: url.searchParams, body }) });
  } catch (error) {
    if (!(error instanceof BadInput) && !(error instanceof TooLarge)) throw error;
    send(response, { status: 400, body: { error: error.message } });
  }
}

function handlerOf(call: string): Handler | undefined {
  const id = /^PATCH \/admin\/orders\/([^/]+)$/.exec(call)?.[1];
  if (id !== undefined) return async (world, { body }) => changeOrder(world, id, await body());
  return Object.hasOwn(ROUTES, call) ? ROUTES[call] : undefined;
}

/** The API keys are in force, and that is all there is to say about them. */
function withoutKeys({ settings }: World): Record<string, unknown> {
  const { apiKeys, ...shown } = settings;
  return { ...shown, apiKeys: apiKeys.length };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new BadInput('body: not JSON');
  }
}
