import type { Answer } from './answer';
import { toDecimal } from './currency';
import { checkedItems, objectOf, type FaultCommit } from './faults';
import { BadInput, text } from './input';
import { isRefusal, type Order, type OrderRequest } from './ledger';
import { listProducts } from './product-list';
import type { World } from './world';

const NOT_CACHED = { cache: 'no-store' };

/** Longer references are answered with 400. */
const MAX_REFERENCE = 200;

/** @throws BadInput */
export function products(world: World, query: URLSearchParams): Answer {
  const { hits, elements, pages } = listProducts(world.catalogue, query);
  return world.answers.success({ hits, products: elements, pages }, NOT_CACHED);
}

/** @throws BadInput */
export function orders(world: World, query: URLSearchParams): Answer {
  const { hits, elements, pages } = world.history.list(query);
  return world.answers.success({ hits, orders: elements, pages }, NOT_CACHED);
}

export async function keys(world: World, id: string): Promise<Answer> {
  const { ledger, answers, settings } = world;
  const order = ledger.byId(id);
  if (order === undefined) return answers.error(404, 'unknown_order', 'there is no such order');

  ledger.settleAll();
  ledger.look(order);
  const lines = order.lines.map(async ({ product, quantity }, at) => ({
    id: product.id,
    title: product.title,
    quantity,
    keys: await ledger.keys(order, at),
  }));
  const { status, debitedMinor } = order.state;
  return answers.success({
    id: order.id,
    status,
    products: await Promise.all(lines),
    total_debit: order.shownDebit ?? toDecimal(debitedMinor),
    balance: { balance: toDecimal(ledger.balanceMinor), credit_limit: settings.creditLimit },
  });
}

/** @throws BadInput for a body that is not an order */
export function orderRequest(body: unknown): OrderRequest {
  const fields = objectOf(body, 'body');
  const referenceId = text(fields['reference_id'], 'reference_id');
  if (referenceId.length > MAX_REFERENCE) throw new BadInput(`reference_id: longer than ${MAX_REFERENCE} characters`);
  return { referenceId, items: checkedItems(fields['items']) };
}

/** Commits what was asked for, or what a fault makes of it, and answers with the first order's id. */
export function place(world: World, request: OrderRequest, commit?: FaultCommit): Answer {
  const { answers, ledger } = world;
  const asked = commit?.type === 'items' ? { ...request, items: commit.items } : request;
  if (commit?.type === 'same-order-as') {
    const [order] = ledger.byReference(commit.referenceId);
    if (order === undefined) return answers.error(500, 'scripted', 'the order named by a fault does not exist');
    return placed(world, order);
  }

  const outcome = ledger.place(asked);
  if (isRefusal(outcome)) return answers.error(outcome.status, outcome.code, outcome.message);
  for (let copy = 1; commit?.type === 'copies' && copy < commit.count; copy += 1) ledger.place(asked);
  return placed(world, outcome);
}

function placed({ answers }: World, order: Order): Answer {
  return answers.success({ id: order.id });
}
