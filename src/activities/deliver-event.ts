import { activityInfo, log } from '@temporalio/activity';
import type { Activities } from '../contracts/activities';
import { type DeliveryRequest, fingerprintsOf, type RefusedDelivery } from '../contracts/checkout-events';
import { eventIdOf } from '../contracts/event-id';
import { FAILURE } from '../contracts/failures';
import type { EventLine } from '../domain/assess-order';
import type { Key } from '../domain/order';
import type { DeliveryEventBody } from '../delivery';
import { failure, laterRun, secretMissing, toFailure } from './failures';
import type { ActivityDependencies } from './dependencies';
import { readTurn } from './read-turn';

/**
 * Hands events to the checkout. The keys are read from the partner at each attempt, exactly those that the event names by
 * their fingerprints, and live no longer than the request.
 */
export function createDeliverEventActivities(deps: ActivityDependencies): Pick<Activities, 'deliverEvent'> {
  return {
    async deliverEvent(request, local) {
      const { workflowExecution } = activityInfo();
      if (local && workflowExecution?.runId !== local.firstRunId) throw laterRun();
      const id = eventIdOf(request);
      try {
        // Only the read waits for a permit, not the checkout.
        const body = await deps.partner.withPermits(readTurn(deps, 'delivery'), (partner) =>
          bodyOf({ ...deps, partner }, request),
        );
        await deps.delivery.deliver({ id, body });
      } catch (error) {
        deps.metrics.count('fulfilment_delivery_attempts', { result: 'failed' });
        const failed = toFailure(error);
        if (local && isFinal(failed.type)) return { refused: failed.type, request };
        throw failed;
      }
      deps.metrics.count('fulfilment_delivery_attempts', { result: 'received' });
      log.info('event delivered', { eventId: id, type: request.type });
      return { eventId: id, request: local && request };
    },
  };
}

function isFinal(type: string | undefined | null): type is RefusedDelivery['refused'] {
  return type === FAILURE.deliveryRefused || type === FAILURE.keyGone;
}

async function bodyOf(deps: ActivityDependencies, request: DeliveryRequest): Promise<DeliveryEventBody> {
  const { type, at, ...event } = request;
  if (!('lines' in event)) return { type, timestamp: at, data: { ...event, deduplicationKey: undefined } };
  const { orderId } = event;
  const withKeys = fingerprintsOf(event).length > 0;
  const lines = withKeys ? await linesWithKeys(deps, orderId, event.lines) : event.lines.map(withoutKeys);
  return { type, timestamp: at, data: { ...event, lines } };
}

async function linesWithKeys(deps: ActivityDependencies, orderId: string | undefined, lines: EventLine[]) {
  if (orderId === undefined) throw failure(FAILURE.keyGone, 'an event with keys needs an order', { final: true });
  const { data: order } = await deps.partner.getOrder(orderId);
  return lines.map((line) => {
    const there = order.products.filter((product) => product.id === line.productId).flatMap((product) => product.keys);
    return { ...withoutKeys(line), keys: pick(deps, orderId, line, there) };
  });
}

/** Exactly the keys that the line names, in its order. A key that stands twice in an order has its fingerprint twice. */
function pick(deps: ActivityDependencies, orderId: string, line: EventLine, there: Key[]): Key[] {
  const left = new Map<string, Key[]>();
  return line.fingerprints.map((fingerprint) => {
    if (!left.has(fingerprint)) addByFingerprint(deps, fingerprint, there, left);
    const key = left.get(fingerprint)?.pop();
    if (!key) throw failure(FAILURE.keyGone, `order ${orderId} no longer holds ${fingerprint}`, { final: true });
    return key;
  });
}

/** Adds the keys under their fingerprints of the same secret as `model`; once for each secret that a line names. */
function addByFingerprint(deps: ActivityDependencies, model: string, there: Key[], left: Map<string, Key[]>): void {
  for (const key of there) {
    const fingerprint = deps.fingerprints.like(model, key);
    if (fingerprint === undefined) throw secretMissing(model);
    left.set(fingerprint, [...(left.get(fingerprint) ?? []), key]);
  }
  if (!left.has(model)) left.set(model, []);
}

function withoutKeys({ fingerprints: _fingerprints, ...line }: EventLine): Omit<EventLine, 'fingerprints'> {
  return line;
}
