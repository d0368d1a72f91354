import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  createPartnerClient,
  isPartnerError,
  type PartnerClientOptions,
  type PartnerError,
} from '../../../src/partner/index';
import { rejectionOf } from '../../support/checks';
import { closeAtEnd } from '../../support/clean-up';
import { type Reply, type ScriptedServer, type ScriptedServerOptions, startServer } from '../../support/http-server';

export const API_KEY = 'fake-api-key-canary-7d1f';

export const TIMESTAMP = '2026-01-02T03:04:05.678Z';

export const NEW_ORDER = { items: [{ id: 'p-1', quantity: 2 }], referenceId: 'REF-1' };

/** A complete response as documented by the partner. */
export function envelope(data: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    status: 200,
    success: true,
    details: { data, extensions: { trace_id: 'trace-1', timestamp: TIMESTAMP } },
    ...more,
  };
}

/** A client with a deadline that ordinary tests never reach. It is closed at the end of the test file. */
export function clientOf(baseUrl: string, options: Partial<PartnerClientOptions> = {}) {
  const client = createPartnerClient({ baseUrl, apiKey: () => API_KEY, timeoutMs: 10_000, ...options });
  closeAtEnd(client.close);
  return client;
}

/** The PartnerError that the call fails with. @throws Error if the call succeeds or fails with another error */
export async function failureOf(call: Promise<unknown>): Promise<PartnerError> {
  const error = await rejectionOf<unknown>(call);
  if (isPartnerError(error)) return error;
  throw new Error('this call did not fail with a PartnerError', { cause: error });
}

export function productRow(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const restrictions = { whitelist: ['DE'], blacklist: [] };
  return { id, title: `Product ${id}`, restrictions, quantity: 3, price: 9.99, currency: 'EUR', ...more };
}

export function historyRow(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const item = { id: 'p-1', title: 'Product p-1', quantity: 2, amount: 19.98 };
  return { id, reference_id: `REF-${id}`, status: 'COMPLETED', item, created_at: TIMESTAMP, ...more };
}

export function orderData(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const keys = [{ value: 'FAKE-KEY-1', type: 'text' }];
  return {
    id,
    status: 'COMPLETED',
    products: [{ id: 'p-1', title: 'Product p-1', quantity: 1, keys }],
    total_debit: 9.99,
    balance: { balance: 90.01, credit_limit: 50 },
    ...more,
  };
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

type RowsOf = (search: string) => readonly unknown[];

/** A server that lists the rows of each search, in pages. */
export function listServer(name: 'orders' | 'products', rowsOf: RowsOf) {
  return startServer({ respond: ({ path }) => pageOf(name, path, rowsOf) });
}

/** The page of a list that is requested with this path. */
export function pageOf(name: 'orders' | 'products', path: string, rowsOf: RowsOf): Reply {
  const { searchParams } = new URL(path, 'http://partner');
  const [page, limit] = [Number(searchParams.get('page') ?? 1), Number(searchParams.get('limit'))];
  const rows = rowsOf(searchParams.get('query') ?? '');
  const pages = { page, total: Math.ceil(rows.length / limit), limit };
  return { json: envelope({ hits: rows.length, [name]: rows.slice((page - 1) * limit, page * limit), pages }) };
}

export async function serverWith(reply?: Reply, options?: ScriptedServerOptions): Promise<ScriptedServer> {
  const server = await startServer(options);
  if (reply) server.script(reply);
  return server;
}

/** Places an order that must fail, at a server that sends `reply`. */
export async function failedPlacement(reply: Reply, options?: Partial<PartnerClientOptions>) {
  const server = await serverWith(reply);
  const error = await failureOf(clientOf(server.url, options).placeOrder(NEW_ORDER));
  return { server, error };
}

/** Runs `act` at the first message on a diagnostics channel of Node or undici. */
export function onceAt(channel: string, act: (message: unknown) => void): void {
  const listener = (message: unknown) => {
    unsubscribe(channel, listener);
    act(message);
  };
  subscribe(channel, listener);
}
