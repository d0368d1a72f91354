import type { PurchaseSettings } from '../../../src/contracts/purchase';
import { type Draw, drawOf } from './draw';
import { addEpisodes, drawEpisodes, type EpisodeName } from './episodes';
import type { Happening, Moment, PartnerPlan, Plan, PlannedEvent, PlannedPurchase } from './plan';
import { drawResponses, drawTrouble } from './troubles';

/** The drawn parts of a day, with everything that the other parts depend on. */
export interface Morning {
  draw: Draw;
  settings: PurchaseSettings;
  partner: PartnerPlan;
  /** Purchases are started within this time. */
  lengthMs: number;
  /** Adds a purchase with a new name. */
  buy(purchase?: Partial<PlannedPurchase>): PlannedPurchase;
  byDay(at: Moment, what: Happening): void;
  evening(atMs: number, what: Happening): void;
  names(): string[];
}

/** The day of a seed. It depends on nothing but the seed and the project's own policies, whose windows it aims at. */
export function makePlan(seed: number): Plan {
  const draw = drawOf(seed);
  const burst = draw.chance(0.15) ? drawBurst(draw) : undefined;
  const maxRps = burst?.maxRps;
  const episodes = drawEpisodes(draw, burst ? burst.episodes : draw.from(2, 5));
  const settings = drawSettings(draw, maxRps, episodes);
  const partner = drawPartner(draw, settings);
  const lengthMs = draw.from(3_000, 10_000);
  const purchases: PlannedPurchase[] = [];
  const events: PlannedEvent[] = [];
  const morning: Morning = {
    ...{ draw, settings, partner, lengthMs },
    buy(purchase = {}) {
      const name = `P${purchases.length + 1}`;
      const items = drawItems(draw);
      const planned = { name, atMs: draw.from(0, lengthMs), items, faults: [], answers: [], ...purchase };
      purchases.push(planned);
      return planned;
    },
    byDay: (at, what) => void events.push({ part: 'day', at, what }),
    evening: (atMs, what) => void events.push({ part: 'evening', at: { atMs }, what }),
    names: () => purchases.map(({ name }) => name),
  };
  if (burst) buyAtOnce(morning, burst.purchases);
  else drawPurchases(morning);
  addEpisodes(morning, episodes);
  // The frozen worker must be the one that has the placement.
  const isFrozen = episodes.some((name) => name.startsWith('frozen') && name !== 'frozenAnywhere');
  const workers = isFrozen ? 1 : (burst?.workers ?? draw.pick([1, 1, 2]));
  // Drawn last, so that older seeds keep their days.
  settings.watch = draw.pick(['orders', 'history']);
  return { seed, settings, maxRps, workers, partner, purchases, events: events.toSorted(byTime) };
}

function byTime(one: PlannedEvent, other: PlannedEvent): number {
  const timeOf = ({ part, at }: PlannedEvent) => (part === 'day' ? 0 : 1e6) + ('atMs' in at ? at.atMs : at.ms);
  return timeOf(one) - timeOf(other);
}

/** All permitted settings, as far as a day of seconds has time for them. */
function drawSettings(draw: Draw, maxRps: number | undefined, episodes: readonly EpisodeName[]): PurchaseSettings {
  // A reading outlasts the confirmation window only when that is short; an order is overdue either soon or not by day.
  const isShort = episodes.includes('slowReading');
  const isOverdueSoon = episodes.includes('keysComeLate') || episodes.includes('keysComeInTurns');
  return {
    placeWithinMs: maxRps === undefined ? draw.pick([15_000, 30_000, 60_000]) : 120_000,
    firstPollMs: draw.pick([20, 100, 500]),
    pollIntervalMs: draw.pick([300, 500, 1_000]),
    watch: 'orders',
    deadlineMs: isOverdueSoon ? 4_000 : draw.pick([4_000, 8_000, 30_000]),
    confirmWindowMs: isShort ? 1_500 : draw.pick([1_500, 2_500, 4_000]),
    replace: draw.pick(['never', 'answered', 'answered', 'always']),
    partnerTimeoutMs: isShort ? 800 : draw.pick([800, 1_500]),
    deliveryTimeoutMs: draw.pick([500, 1_000]),
  };
}

/**
 * A history lags either much less than the confirmation window, or late enough that a second request is sent before the
 * first order appears. What happens between the two is not specified.
 */
function drawPartner(draw: Draw, { confirmWindowMs }: PurchaseSettings): PartnerPlan {
  const lag = draw.weighted({ none: 55, short: 25, long: 20 });
  const lags = { none: 0, short: 0.3 * confirmWindowMs, long: (draw.from(120, 160) / 100) * confirmWindowMs + 2_000 };
  return {
    settings: {
      historyLagMs: Math.round(lags[lag]),
      search: draw.weighted({ exact: 6, fuzzy: 2, ignored: 2 }),
      historyOrder: draw.weighted({ newest: 3, oldest: 1 }),
      historyItem: draw.pick(['whole', 'first']),
      historyPageLimit: draw.pick([500, 500, 20, 7]),
      historyShift: draw.weighted({ none: 5, one: 1 }) === 'one' ? 1 : 0,
      duplicates: draw.weighted({ accept: 3, refuse: 1 }),
      speed: draw.pick([10, 30, 60]),
    },
    pastOrders: draw.pick([0, 5, 30]),
    beyond: lag === 'long' ? 'the history lagged longer than it is watched' : undefined,
  };
}

const PRODUCTS = {
  ...{ 'demo-instant': 30, 'demo-seconds': 25, 'demo-slow': 8, 'demo-partial': 6, 'demo-short': 4 },
  ...{ 'demo-partial-then-complete': 5, 'demo-complete-then-refunded': 3, 'demo-refunded': 3, 'demo-failed': 3 },
  ...{ 'demo-late': 4, 'demo-never': 2, 'demo-strange': 3, 'demo-flapping': 3, 'demo-image': 2 },
  ...{ 'demo-extra': 2, 'demo-out-of-stock': 2 },
};

function drawItems(draw: Draw): Record<string, number> {
  const lines = draw.weighted({ one: 8, two: 2 }) === 'one' ? 1 : 2;
  return Object.fromEntries(Array.from({ length: lines }, () => [draw.weighted(PRODUCTS), draw.from(1, 4)]));
}

/** Purchases in bursts and trickles. */
function drawPurchases(morning: Morning): void {
  const { draw, lengthMs } = morning;
  const bursts = Array.from({ length: draw.from(0, 2) }, () => draw.from(0, lengthMs));
  for (let left = draw.from(3, 10); left > 0; left--) {
    const atMs = bursts.length > 0 && draw.chance(0.5) ? draw.pick(bursts) : draw.from(0, lengthMs);
    const purchase = morning.buy({ atMs, answers: drawResponses(draw) });
    if (draw.chance(0.5)) Object.assign(purchase, drawTrouble(morning));
  }
}

interface Burst {
  maxRps: number;
  purchases: number;
  /** Each worker has a rate limit of its own. */
  workers: number | undefined;
  episodes: number;
}

/**
 * More requests than the rate limit permits: either some wait, or the searches before their placements take longer than
 * an attempt may last. The second case is trouble enough for one day.
 */
function drawBurst(draw: Draw): Burst {
  const [maxRps, isLong] = [draw.from(3, 6), draw.chance(0.4)];
  if (isLong) return { maxRps: 3, purchases: 3 * draw.from(15, 18), workers: 1, episodes: 0 };
  return { maxRps, purchases: maxRps * draw.from(4, 7), workers: undefined, episodes: draw.from(0, 1) };
}

/** Purchases without any other reason not to be placed. */
function buyAtOnce({ buy }: Morning, purchases: number): void {
  for (let left = purchases; left > 0; left--) buy({ atMs: 0, items: { 'demo-instant': 1 } });
}
