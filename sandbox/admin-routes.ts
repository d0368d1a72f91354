import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, send, TooLarge } from './http';
import { BadInput, parseJson } from './input';
import { reportLedger } from './ledger-report';
import { addPastOrders, changeOrder, placeManualOrder } from './manual-orders';
import { advance, changeSettings, type SandboxState } from './state';

type Handler = (state: SandboxState, request: AdminRequest) => unknown;

interface AdminRequest {
  query: URLSearchParams;
  body: () => Promise<unknown>;
}

const ROUTES: Record<string, Handler> = {
  'GET /admin/ledger': (state, { query }) => reportLedger(state, { keys: query.get('keys') === '1' }),
  'GET /admin/requests': (state, { query }) => ({
    ...state.requests.report(),
    log: query.get('log') === '1' ? state.requests.log() : undefined,
  }),
  'GET /admin/faults': (state) => state.faults.list(),
  'POST /admin/faults': async (state, { body }) => state.faults.add(await body()),
  'DELETE /admin/faults': (state) => state.faults.clear(),
  'GET /admin/settings': (state) => withoutKeys(state),
  'POST /admin/settings': async (state, { body }) => {
    changeSettings(state, await body());
    return withoutKeys(state);
  },
  'POST /admin/clock': async (state, { body }) => advance(state, await body()),
  'POST /admin/orders': async (state, { body }) => placeManualOrder(state, await body()),
  'POST /admin/history': async (state, { body }) => addPastOrders(state, await body()),
};

export function isAdmin(url: string): boolean {
  return /^\/admin(\/|$|\?)/.test(url);
}

/** Serves one call to an admin route: plain JSON, no envelope, no API key. */
export async function serveAdmin(
  state: SandboxState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '', 'http://sandbox');
  const handler = handlerOf(`${request.method} ${url.pathname}`);
  if (handler === undefined) {
    const routes = [...Object.keys(ROUTES), 'PATCH /admin/orders/ID'];
    return send(response, { status: 404, body: { error: 'unknown route', routes } });
  }
  const body = async (): Promise<unknown> => parseJson(await readBody(request));
  try {
    send(response, { status: 200, body: await handler(state, { query: url.searchParams, body }) });
  } catch (error) {
    if (!(error instanceof BadInput) && !(error instanceof TooLarge)) throw error;
    send(response, { status: 400, body: { error: error.message } });
  }
}

function handlerOf(call: string): Handler | undefined {
  const id = /^PATCH \/admin\/orders\/([^/]+)$/.exec(call)?.[1];
  if (id !== undefined) return async (state, { body }) => changeOrder(state, id, await body());
  return Object.hasOwn(ROUTES, call) ? ROUTES[call] : undefined;
}

/** The settings, with the number of API keys instead of the API keys themselves. */
function withoutKeys({ settings }: SandboxState): Record<string, unknown> {
  const { apiKeys, ...shown } = settings;
  return { ...shown, apiKeys: apiKeys.length };
}
