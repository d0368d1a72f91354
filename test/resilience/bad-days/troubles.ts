import type { Fault } from '../../../sandbox';
import type { Draw } from './draw';
import type { Morning } from './make-plan';
import type { JsonResponse, PlannedPurchase } from './plan';

type Action = NonNullable<Fault['action']>;
type Trouble = Pick<PlannedPurchase, 'faults' | 'beyond'>;

const SECOND = 1_000;

/** Every way to lose a response, so that the result of the call is unknown. */
export const LOST: readonly Action[] = [
  { type: 'hang' },
  { type: 'reset' },
  { type: 'close' },
  { type: 'drip' },
  { type: 'informational' },
  { type: 'truncate', framing: 'none' },
  { type: 'truncate', framing: 'content-length' },
  { type: 'body', text: '<html>welcome</html>', contentType: 'text/html' },
  { type: 'answer', status: 307, headers: { location: 'http://127.0.0.1:9/' } },
];

/** Error responses that do not say whether the order was booked. */
export const ERRORS: readonly Action[] = [
  { type: 'answer', status: 500 },
  { type: 'answer', status: 502, body: '<h1>Bad gateway</h1>' },
  { type: 'answer', status: 429, headers: { 'retry-after': '1' } },
  { type: 'answer', status: 408 },
  { type: 'unsuccessful' },
];

const REFUSALS = [400, 402, 413, 415, 422];

/** The faults of one purchase at the partner. */
export function drawTrouble(morning: Morning): Trouble {
  const { draw } = morning;
  const kind = draw.weighted({
    ...{ error: 16, lost: 14, bookedThenRefused: 8, late: 8, refused: 4, conflict: 4, access: 4, slow: 4 },
    ...{ copies: 3, otherItems: 3, searchFails: 8, searchSlow: 4 },
  });
  const when = draw.pick(['before', 'after'] as const);
  switch (kind) {
    case 'error':
      return placing({ when, action: draw.pick(ERRORS) });
    case 'lost':
      return placing({ when, action: draw.pick(LOST) });
    case 'bookedThenRefused':
      return bookedThenRefused(morning);
    case 'late':
      return late(morning, draw.pick([...LOST, ...ERRORS]));
    case 'refused':
      return placing({ action: { type: 'answer', status: draw.pick(REFUSALS) } });
    case 'conflict':
      return placing({ when, action: { type: 'answer', status: 409 } });
    case 'access':
      return placing({ times: draw.from(1, 2), action: { type: 'answer', status: 401 } });
    case 'slow':
      return placing({ when, action: { type: 'delay', ms: justAfterTheTimeout(morning) } });
    case 'copies':
      return placing({ commit: { type: 'copies', count: 2 } }, 'the partner made two orders of one request');
    case 'otherItems':
      return placing({ commit: { type: 'items', items: [{ id: 'demo-seconds', quantity: 9 }] } });
    case 'searchFails':
      return { faults: [searchFault(draw, draw.pick([...LOST, ...ERRORS]))] };
    case 'searchSlow':
      return { faults: [searchFault(draw, { type: 'delay', ms: draw.from(100, 2 * SECOND) })] };
  }
}

function placing(fault: Omit<Fault, 'operation' | 'referenceId'>, beyond?: string): Trouble {
  return { faults: [{ operation: 'place', ...fault }], beyond };
}

/**
 * An error, then a refusal of the second request because of the first, which is booked after one search and well within
 * the confirmation window. The delay counts from the response, because the time of the second request is unknown.
 */
function bookedThenRefused({ draw, settings: { confirmWindowMs } }: Morning): Trouble {
  const isLate = !draw.chance(0.5);
  const first: Fault = isLate
    ? { operation: 'place', action: { type: 'answer', status: 500 } }
    : { operation: 'place', when: 'after', action: draw.pick(ERRORS) };
  const refusal: Fault = { operation: 'place', action: { type: 'answer', status: draw.pick([409, 402, 422]) } };
  const booked: Fault = { ...refusal, commit: { type: 'late', ms: Math.round(0.5 * confirmWindowMs) } };
  return { faults: [first, isLate ? booked : refusal, { ...refusal, times: 2 }] };
}

/** Booked after the response: either soon enough to be found in the confirmation window, or long after it. */
export function late({ draw, settings }: Morning, action: Action): Trouble {
  if (draw.chance(0.5)) {
    return placing({ action, commit: { type: 'late', ms: Math.round(0.2 * settings.confirmWindowMs) } });
  }
  const commit = { type: 'late', ms: draw.from(8, 25) * SECOND } as const;
  return placing({ action, commit }, 'booked after the confirmation window');
}

function justAfterTheTimeout({ draw, settings: { partnerTimeoutMs, confirmWindowMs } }: Morning): number {
  return draw.chance(0.5)
    ? draw.from(100, partnerTimeoutMs - 300)
    : Math.round(partnerTimeoutMs + 0.15 * confirmWindowMs);
}

function searchFault(draw: Draw, action: Action): PlannedPurchase['faults'][number] {
  return { operation: 'orders', nth: draw.pick([1, 1, 2, 3]), times: draw.from(1, 3), action };
}

/** Most checkouts accept most events at once. */
export function drawResponses(draw: Draw): JsonResponse[] {
  if (draw.chance(0.8)) return [];
  const answers: JsonResponse[] = [500, 503, 404, 'hang', 'reset', 'take-and-hang', 'take-and-reset', 'head-only'];
  return Array.from({ length: draw.from(1, 3) }, () => (draw.chance(0.06) ? 410 : draw.pick(answers)));
}
