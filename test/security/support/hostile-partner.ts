import { request as send } from 'undici';
import type { Sandbox } from '../../../sandbox/index';
import { type Received, type Reply, startServer } from '../../support/http-server';

/** An order in a response to the keys operation. */
export interface OrderData {
  id: string;
  status: string;
  products: { id: string; title: string; quantity: number; keys: { value: string; type: string }[] }[];
  [field: string]: unknown;
}

/** The order history in a response. */
export interface HistoryData {
  orders: { id: string; status: string; created_at: string; item: unknown; reference_id: string }[];
  [field: string]: unknown;
}

export interface Envelope<Data> {
  status: number;
  success: boolean;
  details: { data: Data; extensions: Record<string, unknown> };
}

/** A call to the partner's API about one purchase. */
export interface Call {
  operation: 'place' | 'orders' | 'keys';
  referenceId: string;
  /** The number of the call of this operation for this purchase, from 1. */
  nth: number;
  apiKey: string;
  /** Forwards the call to the sandbox. Otherwise the call has no effect. */
  plain<Data>(): Promise<Envelope<Data>>;
}

/** A replacement for the sandbox's response; undefined keeps that response. */
export type Twist = (call: Call) => Promise<Reply | undefined>;

/** A partner in front of the sandbox that gives each purchase the responses of its twist. */
export async function startHostilePartner(sandbox: Sandbox) {
  const twists = new Map<string, Twist>();
  const references = new Map<string, string>();
  const counts = new Map<string, number>();
  const apiKeys: string[] = [];

  const count = (name: string) => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts.get(name) ?? 0;
  };
  const respond = async (request: Received): Promise<Reply> => {
    const apiKey = String(request.headers['x-api-key']);
    apiKeys.push(apiKey);
    const about = aboutOf(request, references);
    let answer: { status: number; text: string } | undefined;
    const forwarded = async () => (answer ??= await forward(sandbox, request, about?.referenceId, references));
    if (about && twists.has(about.referenceId)) {
      const nth = count(`${about.operation} ${about.referenceId}`);
      const plain = async <Data>() => JSON.parse((await forwarded()).text) as Envelope<Data>;
      const reply = await twists.get(about.referenceId)!({ ...about, nth, apiKey, plain });
      if (reply !== undefined) {
        count(`twisted ${about.referenceId}`);
        return reply;
      }
    }
    const { status, text } = await forwarded();
    return { status, headers: { 'content-type': 'application/json' }, body: text };
  };
  const server = await startServer({ respond });
  return {
    url: server.url,
    /** The API key of every call, in order. */
    apiKeys,
    /** Sets the twist of a purchase. */
    twist: (referenceId: string, twist: Twist) => void twists.set(referenceId, twist),
    /** The number of its twisted responses. */
    twisted: (referenceId: string) => counts.get(`twisted ${referenceId}`) ?? 0,
  };
}

function aboutOf(
  request: Received,
  references: Map<string, string>,
): Pick<Call, 'operation' | 'referenceId'> | undefined {
  const url = new URL(request.path, 'http://partner.example');
  if (url.pathname === '/place-order') {
    const body = JSON.parse(request.body.toString()) as { reference_id: string };
    return { operation: 'place', referenceId: body.reference_id };
  }
  const search = url.searchParams.get('query');
  if (url.pathname.endsWith('/orders') && search !== null) return { operation: 'orders', referenceId: search };
  const orderId = /^\/orders\/([^/]+)\/keys$/.exec(url.pathname)?.[1] ?? '';
  const referenceId = references.get(orderId);
  return referenceId === undefined ? undefined : { operation: 'keys', referenceId };
}

async function forward(
  sandbox: Sandbox,
  { method, path, headers, body }: Received,
  referenceId: string | undefined,
  references: Map<string, string>,
): Promise<{ status: number; text: string }> {
  const given = { 'x-api-key': String(headers['x-api-key']), 'content-type': 'application/json' };
  const response = await send(`${sandbox.url}${path}`, { method: method as 'GET' | 'POST', headers: given, body });
  const text = await response.body.text();
  if (method === 'POST' && response.statusCode === 200 && referenceId !== undefined) {
    references.set((JSON.parse(text) as Envelope<{ id: string }>).details.data.id, referenceId);
  }
  return { status: response.statusCode, text };
}
