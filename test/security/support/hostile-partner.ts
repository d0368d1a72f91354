import { request as send } from 'undici';
import type { Sandbox } from '../../../sandbox/index';
import { type Received, type Reply, startServer } from '../../support/http-server';

/** An order as the keys operation answers it. */
export interface OrderData {
  id: string;
  status: string;
  products: { id: string; title: string; quantity: number; keys: { value: string; type: string }[] }[];
  [field: string]: unknown;
}

/** The order history as it is answered. */
export interface HistoryData {
  orders: { id: string; status: string; created_at: string; item: unknown; reference_id: string }[];
  [field: string]: unknown;
}

export interface Envelope<Data> {
  status: number;
  success: boolean;
  details: { data: Data; extensions: Record<string, unknown> };
}

/** A call of the partner's interface that is about one purchase. */
export interface Call {
  operation: 'place' | 'orders' | 'keys';
  referenceId: string;
  /** The number of the call of this operation for this purchase, from 1. */
  nth: number;
  apiKey: string;
  /** Makes the call at the sandbox; without it the call has no effect. */
  plain<Data>(): Promise<Envelope<Data>>;
}

/** Another answer than the sandbox's; undefined lets that one pass. */
export type Twist = (call: Call) => Promise<Reply | undefined>;

/** A partner that stands before the sandbox and answers as a purchase's twist says. */
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
    /** The API key of every call, in their order. */
    apiKeys,
    /** How a purchase is to be treated. */
    twist: (referenceId: string, twist: Twist) => void twists.set(referenceId, twist),
    /** How many of its answers were twisted. */
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
  const answer = await send(`${sandbox.url}${path}`, { method: method as 'GET' | 'POST', headers: given, body });
  const text = await answer.body.text();
  if (method === 'POST' && answer.statusCode === 200 && referenceId !== undefined) {
    references.set((JSON.parse(text) as Envelope<{ id: string }>).details.data.id, referenceId);
  }
  return { status: answer.statusCode, text };
}
