import { z } from 'zod';
import { toDecimal } from './currency';
import type { FaultCommit } from './faults';
import type { Reply } from './http';
import { orderItems, parse, text } from './input';
import { isRefusal, type OrderRequest } from './ledger';
import { listProducts } from './product-list';
import type { SandboxState } from './state';

const NOT_CACHED = { cache: 'no-store' };

/** @throws BadInput */
export function products({ responses, catalogue }: SandboxState, query: URLSearchParams): Reply {
  const { hits, elements, pages } = listProducts(catalogue, query);
  return responses.success({ hits, products: elements, pages }, NOT_CACHED);
}

/** @throws BadInput */
export function orders({ responses, history }: SandboxState, query: URLSearchParams): Reply {
  const { hits, elements, pages } = history.list(query);
  return responses.success({ hits, orders: elements, pages }, NOT_CACHED);
}

export async function keys({ ledger, responses, settings }: SandboxState, id: string): Promise<Reply> {
  const order = ledger.byId(id);
  if (order === undefined) return responses.error(404, 'unknown_order', 'unknown order');

  ledger.updateAll();
  ledger.poll(order);
  const lines = order.lines.map(async ({ product, quantity }, at) => ({
    id: product.id,
    title: product.title,
    quantity,
    keys: await ledger.keys(order, at),
  }));
  const { status, debitedMinor } = order.state;
  return responses.success({
    id: order.id,
    status,
    products: await Promise.all(lines),
    total_debit: order.shownDebit ?? toDecimal(debitedMinor),
    balance: { balance: toDecimal(ledger.balanceMinor), credit_limit: settings.creditLimit },
  });
}

const placeOrderBody = z.object({ reference_id: text.max(200), items: orderItems });

/** @throws BadInput for an invalid order */
export function orderRequest(body: unknown): OrderRequest {
  const { reference_id: referenceId, items } = parse(placeOrderBody, body);
  return { referenceId, items };
}

/** Commits the request, or what a fault commits instead. The response contains the id of the first order. */
export function place({ responses, ledger }: SandboxState, request: OrderRequest, commit?: FaultCommit): Reply {
  if (commit?.type === 'same-order-as') {
    const [order] = ledger.byReference(commit.referenceId);
    if (order !== undefined) return responses.success({ id: order.id });
    return responses.error(500, 'scripted', 'the fault names an order that does not exist');
  }
  const asked = commit?.type === 'items' ? { ...request, items: commit.items } : request;
  const outcome = ledger.place(asked);
  if (isRefusal(outcome)) return responses.error(outcome.status, outcome.code, outcome.message);
  for (let copy = 1; commit?.type === 'copies' && copy < commit.count; copy += 1) ledger.place(asked);
  return responses.success({ id: outcome.id });
}
