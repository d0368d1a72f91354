import type { Client } from '@temporalio/client';
import type { DeliveryReceipt, DeliveryRequest } from '../../contracts/activities';
import type { PurchaseInput } from '../../contracts/purchase';
import { newKeysOf } from '../../domain/late-keys';
import { handsOver } from '../../domain/order';
import { faultsOfPurchase } from '../../domain/purchase-rules';
import type { KnownPurchase } from '../../domain/reconciliation';
import { eventIdOf } from './deliveries';
import type { Tools } from './mending';
import type { LateMemo } from './purchase-lists';

interface Run {
  workflowId: string;
  runId: string;
}

/** Reads with what a workflow was started and what it told the checkout from its history. */
export interface Histories {
  startedWith(client: Client, run: Run): Promise<unknown>;
  /** Oldest first; `receipt` if the checkout has it. */
  toldEvents(client: Client, run: Run): Promise<{ request: DeliveryRequest; receipt?: DeliveryReceipt }[]>;
}

/** What is to be delivered of an order: nothing, events, or a reason why a person must look. */
export interface LateDelivery {
  deliveries: { request: DeliveryRequest; memo: LateMemo }[];
  doubt?: string;
  /** The order is complete: nothing more will come. */
  complete: boolean;
}

/**
 * Finds what the checkout does not have of an order: events that were on their way when their purchase was stopped, word
 * for word as they were, and keys that no event named, in a new one. What any run of the purchase or any delivery after it
 * ever sent counts as handed over, received or not: it may have arrived.
 */
export async function lateDeliveryOf(tools: Tools, purchase: KnownPurchase, orderId: string): Promise<LateDelivery> {
  const { client, histories } = tools;
  const input = await histories.startedWith(client, purchase);
  if (faultsOfPurchase(input).length > 0) return doubt('it was started with what is no purchase');
  const { items } = input as PurchaseInput;
  const { referenceId } = purchase;

  const sent = await sentBefore(tools, purchase);
  const handedOver = [...sent.values()].flatMap(({ request }) => fingerprintsOf(request));
  const order = await tools.lookAtOrder({ orderId, referenceId });
  const fresh = newKeysOf(items, order, handedOver);
  if (fresh.doubt !== undefined) return doubt(fresh.doubt);
  if (fresh.open) return doubt(`its order is ${order.status} now`);

  const { totalDebit, status } = order;
  const at = new Date(tools.now()).toISOString();
  const late: DeliveryRequest[] =
    fresh.lines.length > 0
      ? [
          {
            type: 'purchase.late_delivery',
            at,
            referenceId,
            orderId,
            lines: fresh.lines,
            ...(totalDebit !== undefined && { totalDebit }),
          },
        ]
      : [];
  const ordered = items.reduce((total, item) => total + item.quantity, 0);
  const deliveries = [...sent.values()]
    .filter(({ repeat }) => repeat)
    .map(({ request }) => request)
    .concat(late)
    .map((request) => ({ request, memo: { ordered, orderId, lastSeen: status, handedOver: byProduct(request) } }));
  return { deliveries, complete: handsOver(status) };
}

interface Sent {
  request: DeliveryRequest;
  /** Nobody knows whether it arrived, and nobody tries any more. */
  repeat: boolean;
}

/** Every event with keys that was ever sent for this reference, once. */
async function sentBefore({ client, histories }: Tools, purchase: KnownPurchase): Promise<Map<string, Sent>> {
  const runs = new Map<string, Run & { running: boolean; delivery: boolean }>();
  const { workflowId, runId } = purchase;
  runs.set(runId, { workflowId, runId, running: purchase.execution === 'RUNNING', delivery: false });
  const query = `ReferenceId = '${purchase.referenceId}'`;
  for await (const run of client.workflow.list({ query })) {
    const delivery = run.workflowId !== workflowId;
    runs.set(run.runId, {
      workflowId: run.workflowId,
      runId: run.runId,
      running: run.status.name === 'RUNNING',
      delivery,
    });
  }
  const sent = new Map<string, Sent>();
  const received = new Set<string>();
  for (const run of runs.values()) {
    for (const { request, receipt } of await histories.toldEvents(client, run)) {
      if (fingerprintsOf(request).length === 0) continue;
      const id = eventIdOf(request);
      if (receipt) received.add(id);
      // A delivery of its own has tried for a day, or still does.
      const repeat = !run.delivery && !run.running && sent.get(id)?.repeat !== false;
      sent.set(id, { request, repeat });
    }
  }
  for (const [id, event] of sent) sent.set(id, { ...event, repeat: event.repeat && !received.has(id) });
  return sent;
}

function fingerprintsOf(request: DeliveryRequest): string[] {
  return (request.lines ?? []).flatMap((line) => line.fingerprints);
}

function byProduct(request: DeliveryRequest): Record<string, string[]> {
  return Object.fromEntries((request.lines ?? []).map((line) => [line.productId, line.fingerprints]));
}

function doubt(why: string): LateDelivery {
  return { deliveries: [], doubt: why, complete: false };
}
