import { condition, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities, PlacementResult } from '../contracts/activities';
import { describeItems } from '../domain/purchase-rules';
import { isPlacementResult } from './activity-result-guards';
import { boundedPause } from './bounded-pause';
import type { Holds } from './holds';
import { ended, type Placement, type PlacementStep } from './placement-step';
import { placementMaxAge, placementOptions, placementPause } from './policies';
import { firstStart, type PurchaseRecord } from './purchase-record';
import { adopt, settleRefused, settleUnknown } from './settle-placement';

/**
 * Places the order once. What makes a second placement impossible:
 *
 * - each attempt is one activity that has one attempt (`placementOptions`) and sends at most one request, behind the fences
 *   in activities/place-order.ts;
 * - what its answer proves decides what may follow (`interpretAnswer`): no second request is sent before the first is
 *   proven not sent, refused, or absent (settle-placement.ts).
 */
export async function placeOrder(purchase: PurchaseRecord, holds: Holds): Promise<Placement> {
  const { placeWithinMs } = purchase.settings;
  let until = Date.now() + placeWithinMs;
  let settledInRun: string | undefined;

  for (let attempt = 1; ; attempt++) {
    if (purchase.cancelRequested) return ended('CANCELLED', 'cancelled before anything was bought');
    const answer = await attemptPlacement(purchase, settledInRun);
    const step = await interpretAnswer(purchase, holds, answer);
    if (step.kind !== 'retry') return step;

    settledInRun = step.settledInRun ?? settledInRun;
    if (step.decided) until = Date.now() + placeWithinMs;
    const pause = step.decided ? 0 : boundedPause(placementPause(attempt, step.retryAfterMs), until);
    if (Date.now() + pause > until) return ended('NOT_PLACED', step.why);
    purchase.show('PLACING', `${step.why}; attempt ${attempt + 1} in ${Math.round(pause / 1000)} s`);
    if (pause > 0) await condition(() => purchase.cancelRequested, pause);
  }
}

async function attemptPlacement(purchase: PurchaseRecord, settledInRun?: string): Promise<PlacementResult> {
  const { input, settings } = purchase;
  const activities = proxyActivities<Activities>(placementOptions(settings));
  const request = {
    referenceId: input.referenceId,
    items: input.items,
    since: firstStart(),
    firstRunId: workflowInfo().firstExecutionRunId,
    settledInRun,
    maxAgeMs: placementMaxAge(settings),
  };
  try {
    const answer = await activities.placeOrder.executeWithOptions({ summary: describeItems(input.items) }, [request]);
    if (isPlacementResult(answer)) return answer;
    return { evidence: 'UNKNOWN', why: 'the attempt was completed by an operator', inFlight: true };
  } catch {
    return { evidence: 'UNKNOWN', why: 'the worker stopped or the attempt timed out', inFlight: true };
  }
}

async function interpretAnswer(
  purchase: PurchaseRecord,
  holds: Holds,
  answer: PlacementResult,
): Promise<PlacementStep> {
  switch (answer.evidence) {
    case 'PLACED':
      return { kind: 'order', orderId: answer.orderId, adopted: false };
    case 'FOUND':
      return adopt(purchase, answer.orders) ?? { kind: 'retry', why: answer.why };
    case 'NOT_SENT':
      return { kind: 'retry', why: answer.why, retryAfterMs: answer.retryAfterMs };
    case 'ORDER_REFUSED':
    case 'CONFLICT':
    case 'ACCESS_REFUSED':
      return settleRefused(purchase, holds, answer);
    case 'ANSWERED':
    case 'UNKNOWN':
      return settleUnknown(purchase, holds, answer);
  }
}
