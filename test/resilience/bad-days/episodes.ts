import { placementInFlightMs, placementMaxAgeMs, placementOptions } from '../../../src/workflows/policies';
import type { Draw } from './draw';
import type { Morning } from './make-plan';
import type { Moment, PlannedPurchase, Resolving } from './plan';
import { ERRORS, late, LOST } from './troubles';

const SECOND = 1_000;
const ACTIVITIES = ['placeOrder', 'findOrders', 'pollUntilEnded', 'pollOrder', 'deliverSale'];

/** Related events: a purchase at a certain step, and a fault at that moment. */
const EPISODES = {
  killedBeforeTheWrite: 3,
  killedAfterTheWrite: 2,
  killedAnywhere: 2,
  frozenBeforeTheWrite: 2,
  frozenAfterTheWrite: 3,
  frozenAnywhere: 1,
  serverAway: 1,
  partnerAway: 2,
  slowReading: 3,
  partGrows: 3,
  keysComeLate: 3,
  keysComeInTurns: 4,
  refundedLater: 2,
  rottenRows: 4,
  resetByAPerson: 3,
  pausedByAPerson: 3,
  cancelled: 2,
  decided: 4,
};

export type EpisodeName = keyof typeof EPISODES;

/** Draws the episodes of a day. At most one is a freeze, because a freeze makes the day long. */
export function drawEpisodes(draw: Draw, count: number): EpisodeName[] {
  const names = Array.from({ length: count }, () => draw.weighted(EPISODES));
  const firstFreeze = names.findIndex((name) => name.startsWith('frozen'));
  return names.filter((name, at) => !name.startsWith('frozen') || at === firstFreeze);
}

export function addEpisodes(morning: Morning, names: readonly EpisodeName[]): void {
  for (const name of names) EPISODE[name](morning);
  const { draw, evening } = morning;
  if (draw.chance(0.3)) evening(draw.from(0, 1_500), { type: 'reconcile', dryRun: true });
}

const EPISODE: Record<EpisodeName, (morning: Morning) => void> = {
  killedBeforeTheWrite(morning) {
    const { draw } = morning;
    const { name } = morning.buy({
      faults: [{ operation: 'orders', action: draw.pick([{ type: 'hang' }, { type: 'delay', ms: 600 }]) }],
    });
    kill(morning, { after: 'search', of: name, ms: draw.from(0, 300) });
  },
  killedAfterTheWrite(morning) {
    kill(morning, { after: 'place', of: stuckPlacement(morning).name, ms: morning.draw.from(0, 500) });
  },
  killedAnywhere(morning) {
    kill(morning, { atMs: morning.draw.from(200, morning.lengthMs + 2 * SECOND) });
  },
  frozenBeforeTheWrite(morning) {
    const { draw } = morning;
    const { name } = morning.buy({ faults: [{ operation: 'orders', action: { type: 'delay', ms: 400 } }] });
    freeze(morning, { after: 'search', of: name, ms: draw.from(0, 300) });
  },
  frozenAfterTheWrite(morning) {
    if (morning.draw.chance(0.5)) return frozenAfterALongSearch(morning);
    freeze(morning, { after: 'place', of: stuckPlacement(morning).name, ms: 0 });
  },
  frozenAnywhere(morning) {
    freeze(morning, { atMs: morning.draw.from(200, morning.lengthMs) });
  },
  serverAway(morning) {
    const { draw, lengthMs } = morning;
    const awayMs = draw.from(200, 4 * SECOND);
    morning.byDay({ atMs: draw.from(500, lengthMs) }, { type: 'restart server', awayMs });
  },
  partnerAway(morning) {
    const { draw, lengthMs } = morning;
    const operation = draw.pick(['keys', 'orders', 'orders', 'keys', 'place'] as const);
    const status = draw.pick([500, 503, 401, 403, 404, 429]);
    const action = draw.pick([draw.pick(LOST), draw.pick(ERRORS), { type: 'answer' as const, status }]);
    const times = draw.from(1, 12);
    const what = { type: 'partner fault' as const, fault: { operation, times, action } };
    morning.byDay({ atMs: draw.from(0, lengthMs) }, what);
  },
  slowReading,
  partGrows,
  keysComeLate,
  keysComeInTurns,
  rottenRows,
  refundedLater(morning) {
    const { name } = morning.buy({ items: { 'demo-seconds': 2 } });
    morning.evening(0, { type: 'order refunded', of: name });
    morning.evening(100, { type: 'reconcile' });
  },
  resetByAPerson(morning) {
    const { draw } = morning;
    const name = someone(morning);
    for (let left = draw.from(1, 2); left > 0; left--) {
      const what = { type: 'reset' as const, of: name, share: draw.from(0, 100) / 100 };
      if (draw.chance(0.3)) morning.evening(draw.from(0, SECOND), what);
      else morning.byDay(someMoment(morning, name), what);
    }
  },
  pausedByAPerson(morning) {
    const { draw } = morning;
    const of = someone(morning);
    const type = draw.pick(['pause activity', 'pause activity', 'reset activity'] as const);
    const what = { type, of, activity: draw.pick(ACTIVITIES), ms: draw.from(300, 3 * SECOND) };
    morning.byDay(someMoment(morning, of), what);
  },
  cancelled(morning) {
    const of = someone(morning);
    const type = morning.draw.pick(['cancel', 'cancel', 'cancel', 'terminate'] as const);
    morning.byDay(someMoment(morning, of), { type, of });
  },
  decided,
};

/**
 * The long search makes the attempt old when it writes, so its own limit ends before the server's timeout; it is thawed
 * between the two. The partner books when the process has been awake for a while.
 */
function frozenAfterALongSearch(morning: Morning): void {
  const { draw, settings, partner } = morning;
  Object.assign(partner.settings, {
    search: 'ignored',
    historyPageLimit: 1,
    historyShift: 0,
    historyLagMs: 0,
    duplicates: 'accept',
  });
  partner.beyond = undefined;
  const pageMs = Math.round(0.7 * settings.partnerTimeoutMs);
  // One order per page. A search of about 5 s leaves 2 s between the two limits.
  const pages = Math.ceil((5 * SECOND) / pageMs);
  for (let left = pages; left > 0; left--) morning.buy({ atMs: 0, items: { 'demo-instant': 1 } });
  const action = { type: 'delay' as const, ms: pageMs };
  const { name } = morning.buy({
    atMs: morning.lengthMs,
    faults: [
      { operation: 'orders', action },
      { operation: 'place', action: { type: 'hang' }, commit: { type: 'late', ms: draw.from(22, 28) * SECOND } },
    ],
    beyond: 'booked after the confirmation window',
  });
  // Only the request for the first page contains the reference.
  const fault = { operation: 'orders' as const, times: pages, action };
  morning.byDay({ after: 'search', of: name, ms: 0 }, { type: 'partner fault', fault });
  const ms = placementMaxAgeMs(settings) - draw.from(700, 1_500);
  morning.byDay({ after: 'place', of: name, ms: 0 }, { type: 'freeze', worker: 0, ms });
}

/** Slow pages, so the reading outlasts the confirmation window while purchases begin and end. */
function slowReading(morning: Morning): void {
  const { draw, settings, partner, lengthMs } = morning;
  // With one or two orders per page, orders that arrive during each page would make the reading endless.
  Object.assign(partner.settings, { historyPageLimit: draw.pick([1, 2]), historyShift: 0 });
  const atMs = draw.from(SECOND, lengthMs);
  const action = { type: 'delay' as const, ms: Math.round(0.7 * settings.partnerTimeoutMs) };
  const fault = { operation: 'orders' as const, when: 'after' as const, times: 40, action };
  morning.byDay({ atMs }, { type: 'partner fault', fault });
  morning.byDay({ atMs: atMs + 50 }, { type: 'reconcile' });
  for (let at = atMs; at < atMs + 5 * SECOND; at += SECOND) morning.buy({ atMs: at, items: { 'demo-instant': 1 } });
}

/** A partial order that grows and may stay partial, while several commands deliver its keys at once. */
function partGrows(morning: Morning): void {
  const { draw } = morning;
  const { name } = morning.buy({ items: { 'demo-partial': 4 } });
  const keys = draw.pick([3, 3, 4]);
  const status = keys === 4 && draw.chance(0.7) ? 'COMPLETED' : 'PARTIAL_COMPLETED';
  morning.evening(0, { type: 'order grows', of: name, keys, status });
  askForKeys(morning, name);
}

function keysComeLate(morning: Morning): void {
  const { draw, partner } = morning;
  partner.settings.speed = 10;
  const { name } = morning.buy({ items: { [draw.pick(['demo-slow', 'demo-late'])]: 2 } });
  askForKeys(morning, name);
}

/** The keys of an overdue order arrive one by one and are slow to read, while several commands deliver them. */
function keysComeInTurns(morning: Morning): void {
  const { draw, settings, evening } = morning;
  const { name: of } = morning.buy({ items: { 'demo-never': 4 } });
  const action = { type: 'delay' as const, ms: draw.from(100, settings.partnerTimeoutMs - 300) };
  evening(0, { type: 'partner fault', fault: { operation: 'keys', times: 12, action } });
  for (const [turn, keys] of [1, 2, 3].entries()) {
    const atMs = turn * 600;
    evening(atMs, { type: 'order grows', of, keys, status: 'PARTIAL_COMPLETED' });
    for (let left = draw.from(1, 2); left > 0; left--) {
      const what = draw.chance(0.5) ? { type: 'redeliver' as const, of } : { type: 'reconcile' as const };
      evening(atMs + draw.from(50, 500), what);
    }
  }
}

function askForKeys(morning: Morning, of: string): void {
  const { draw } = morning;
  const together = draw.from(100, 300);
  const asked = draw.pick([
    ['redeliver', 'reconcile'],
    ['reconcile'],
    ['reconcile', 'reconcile'],
    ['redeliver', 'redeliver', 'reconcile'],
  ]);
  for (const type of asked) {
    const what = type === 'redeliver' ? { type: 'redeliver' as const, of } : { type: 'reconcile' as const };
    morning.evening(together + draw.from(0, 150), what);
  }
}

const ROTTEN_ROWS: Record<string, unknown>[] = [
  ...[{ created_at: 'yesterday' }, { status: 7 }, { id: 5.5 }, { id: '' }, { reference_id: 12 }],
  ...[{ item: { amount: 'much' } }, { reference_id: 'R'.repeat(12_000) }],
];

/** Unreadable rows and an order with unreadable keys, next to keys that are still to be delivered. */
function rottenRows(morning: Morning): void {
  const { draw, evening } = morning;
  for (let left = draw.from(1, 3); left > 0; left--) {
    const of = someone(morning);
    evening(0, { type: 'order row breaks', of, row: draw.pick(ROTTEN_ROWS) });
  }
  if (draw.chance(0.5)) {
    const { name: of } = morning.buy({ items: { 'demo-partial': 4 } });
    const action = draw.pick([
      ...[400, 403, 404, 410].map((status) => ({ type: 'answer' as const, status })),
      { type: 'body' as const, text: '<html>welcome</html>', contentType: 'text/html' },
    ]);
    evening(0, { type: 'order grows', of, keys: 3, status: 'PARTIAL_COMPLETED' });
    evening(50, { type: 'order breaks', of, action });
  }
  partGrows(morning);
}

function decided(morning: Morning): void {
  const { draw, settings } = morning;
  const name = draw.chance(0.5) ? stuckPlacement(morning).name : someone(morning);
  const how: Resolving = draw.pick([
    ...(['right', 'right', 'the order of another', 'an order that is not there'] as const),
    ...(['replace', 'abandon', 'deliver', 'withhold'] as const),
  ]);
  const withinMs = 3 * settings.confirmWindowMs + placementInFlightMs(settings);
  const what = { type: 'resolve' as const, of: name, how, withinMs };
  if (draw.chance(0.5)) morning.evening(draw.from(0, 500), { ...what, withinMs: 500 });
  else morning.byDay({ after: 'place', of: name, ms: 0 }, what);
}

/** A placement without a response, which is booked at once, later or never. */
function stuckPlacement(morning: Morning): PlannedPurchase {
  const { draw } = morning;
  const kind = draw.pick(['late', 'late', 'booked', 'not booked']);
  if (kind === 'late') return morning.buy(late(morning, { type: 'hang' }));
  const when = kind === 'booked' ? 'after' : 'before';
  return morning.buy({
    faults: [{ operation: 'place', when, action: draw.pick([{ type: 'hang' }, { type: 'delay', ms: 700 }]) }],
  });
}

function kill(morning: Morning, at: Moment): void {
  const { draw } = morning;
  const type = draw.pick(['kill', 'kill', 'kill', 'stop'] as const);
  const what = { type, worker: draw.from(0, 3), anotherAfterMs: draw.from(0, 2 * SECOND) };
  morning.byDay(at, what);
}

/** For a moment, until one of the windows between two timeouts, or beyond all of them. */
function freeze(morning: Morning, at: Moment): void {
  const { draw, settings } = morning;
  const ownLimit = placementMaxAgeMs(settings);
  const answered = placementInFlightMs(settings);
  const givenUp = Number(placementOptions(settings).startToCloseTimeout);
  const ms = draw.pick([
    draw.from(500, 3 * SECOND),
    draw.from(ownLimit - SECOND, answered),
    draw.from(answered, givenUp),
    givenUp + draw.from(0, 2 * SECOND),
  ]);
  morning.byDay(at, { type: 'freeze', worker: 0, ms });
}

function someone(morning: Morning): string {
  const { draw } = morning;
  return draw.chance(0.5) ? draw.pick(morning.names()) : morning.buy().name;
}

function someMoment({ draw, lengthMs }: Morning, of: string): Moment {
  const after = draw.pick(['search', 'place', 'delivery', 'time'] as const);
  if (after === 'time') return { atMs: draw.from(0, lengthMs + 3 * SECOND) };
  return { after, of, ms: draw.pick([0, draw.from(0, 500), draw.from(0, 4 * SECOND)]) };
}
