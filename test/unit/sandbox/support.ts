import { startSandbox, type Sandbox, type SandboxOptions } from '../../../sandbox/index';
import { closeAtEnd } from '../../support/clean-up';

const NOON = Date.UTC(2030, 0, 1, 12);

export const ONE = { 'demo-instant': 1 };

/** A sandbox that is closed at the end of the test file, and a time of day that only the test advances. */
export interface Setup {
  sandbox: Sandbox;
  time: { nowMs: number };
}

export async function start(options: SandboxOptions = {}): Promise<Setup> {
  const time = { nowMs: NOON };
  const sandbox = await startSandbox({ now: () => time.nowMs, ...options });
  closeAtEnd(sandbox.close);
  return { sandbox, time };
}

/** The fields of all responses. A test reads the fields that its call returns. */
export interface Data {
  id: string;
  status: string;
  code: string;
  hits: number;
  pages: { page: number; total: number; limit: number };
  orders: { id: string; reference_id: string; status: string }[];
  products: { id: string; title: string; quantity: number; price: number; keys: { type: string; value: string }[] }[];
  total_debit: number;
  balance: { balance: number; credit_limit: number };
}

export interface Reply {
  status: number;
  headers: Headers;
  body: {
    status: number;
    success: boolean;
    details: { data: Data; extensions: { trace_id: string; timestamp: string } };
  };
}

export async function call(sandbox: Sandbox, path: string, init: RequestInit = {}): Promise<Reply> {
  const headers = { 'x-api-key': 'sandbox-key', connection: 'close', ...(init.headers as Record<string, string>) };
  const response = await fetch(sandbox.url + path, { redirect: 'manual', ...init, headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Reply['body'] };
}

type Items = Record<string, number>;

export function orderBody(referenceId: string, items: Items): string {
  const list = Object.entries(items).map(([id, quantity]) => ({ id, quantity }));
  return JSON.stringify({ reference_id: referenceId, items: list });
}

export function place(sandbox: Sandbox, referenceId: string, items: Items): Promise<Reply> {
  const headers = { 'content-type': 'application/json' };
  return call(sandbox, '/place-order', { method: 'POST', body: orderBody(referenceId, items), headers });
}

/**
 * Places an order that must succeed.
 *
 * @returns its id
 */
export async function placed(sandbox: Sandbox, referenceId: string, items: Items): Promise<string> {
  const { status, body } = await place(sandbox, referenceId, items);
  if (status !== 200) throw new Error(`place-order returned ${status}`);
  return body.details.data.id;
}

export async function poll(sandbox: Sandbox, id: string): Promise<Data> {
  return (await call(sandbox, `/orders/${id}/keys`)).body.details.data;
}

export async function search(sandbox: Sandbox, query: string): Promise<string[]> {
  const { body } = await call(sandbox, `/v1/partners/orders?query=${query}`);
  return body.details.data.orders.map((order) => order.reference_id);
}
