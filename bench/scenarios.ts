import { type CheckoutCallSettings, measureCheckoutCall } from './measure/checkout-call';
import { measureColdStart } from './measure/cold-start';
import { type LatencySettings, measureLatency } from './measure/latency';
import { measureOpenOrders, type OpenOrderSettings } from './measure/open-orders';
import { measurePurchases, type LoadSettings } from './measure/purchases';
import { measureReconciliation } from './measure/reconciliation';
import { measureRecovery } from './measure/recovery';
import type { Measured, Run } from './measure/run';
import type { SideName } from './sides';

/** One benchmark: its sides, rounds and settings. */
export interface Scenario {
  name: string;
  title: string;
  sides: readonly SideName[];
  /** At least three, unless a round takes minutes. */
  rounds: number;
  settings: Settings;
  /** Settings that differ in a quick run, which has one round. */
  quick: Settings;
  /** Too long for a quick run, unless it is selected by name. */
  isLong?: boolean;
  measure(run: Run, settings: Settings): Promise<Measured>;
}

type Settings = Readonly<Record<string, string | number>>;

const BOTH: readonly SideName[] = ['baseline', 'ours'];

/** Orders of `demo-instant` are complete at once, of `demo-seconds` after 8 s, of `demo-slow` after 20 min. */
const SECONDS_MS = 8_000;
const SLOW_MS = 1_200_000;

/** The longest scenarios come last, when the other results have already been saved. */
export const SCENARIOS: readonly Scenario[] = [
  purchases('complete-at-once', 'Complete at once: polled at once', {
    settings: waitingFor('demo-instant', 1, 0, { purchases: 200, firstPollMs: 0, pollIntervalMs: 30_000 }),
    quick: { purchases: 40 },
  }),
  purchases('waiting', 'Waiting: complete after 12 s, polled each 3 s', {
    settings: waitingFor('demo-seconds', SECONDS_MS / 12_000, 12_000, {
      purchases: 500,
      firstPollMs: 3_000,
      pollIntervalMs: 3_000,
    }),
    quick: { purchases: 40 },
  }),
  purchases('defaults', 'At the defaults: complete after 2 s, first poll after 5 s', {
    settings: waitingFor('demo-seconds', SECONDS_MS / 2_000, 2_000, {
      purchases: 200,
      firstPollMs: 5_000,
      pollIntervalMs: 30_000,
    }),
    quick: { purchases: 40 },
  }),
  purchases('twenty-minutes', 'A 20-minute order on a clock 60 times as fast: 40 polls', {
    settings: waitingFor('demo-slow', 60, SLOW_MS / 60, { purchases: 10, firstPollMs: 500, pollIntervalMs: 500 }),
    quick: { purchases: 2 },
    isLong: true,
  }),
  scenario<CheckoutCallSettings>('checkout-call', "The checkout's call, five each second", {
    sides: BOTH,
    rounds: 3,
    settings: { calls: 50, everyMs: 200 },
    quick: { calls: 20 },
    measure: measureCheckoutCall,
  }),
  scenario<LatencySettings>('latency', "From the checkout's call to the event, one purchase a second", {
    sides: BOTH,
    rounds: 3,
    settings: { purchases: 60, everyMs: 1_000, partnerRespondsAfterMs: 50 },
    quick: { purchases: 10 },
    measure: measureLatency,
  }),
  scenario<LoadSettings>('recovery', 'SIGKILL with 300 purchases in flight', {
    sides: BOTH,
    rounds: 1,
    settings: waitingFor('demo-seconds', SECONDS_MS / 12_000, 12_000, {
      purchases: 300,
      firstPollMs: 3_000,
      pollIntervalMs: 3_000,
    }),
    quick: { purchases: 20 },
    isLong: true,
    measure: measureRecovery,
  }),
  scenario<{ orders: number }>('reconciliation', 'A reconciliation of 100,000 orders', {
    sides: ['ours'],
    rounds: 1,
    settings: { orders: 100_000 },
    quick: { orders: 10_000 },
    measure: measureReconciliation,
  }),
  scenario<{ settleMs: number }>('cold-start', 'A worker starts', {
    sides: BOTH,
    rounds: 3,
    settings: { settleMs: 2_000 },
    quick: { settleMs: 500 },
    measure: measureColdStart,
  }),
  scenario<OpenOrderSettings>('open-orders', 'Orders held open', {
    sides: ['baseline', 'ours', 'history'],
    rounds: 1,
    settings: {
      orders: 2_000,
      pollIntervalMs: 80_000,
      windowMs: 40_000,
      // Together 67 checks a second, like 2,000 orders at the default interval. A dev server falls behind at about 160.
      watchedOrders: 1_000,
      watchIntervalMs: 15_000,
      watchIntervals: 20,
      changedEachInterval: 4,
    },
    quick: {
      orders: 40,
      pollIntervalMs: 4_000,
      windowMs: 8_000,
      watchedOrders: 40,
      watchIntervalMs: 1_000,
      watchIntervals: 10,
    },
    isLong: true,
    measure: measureOpenOrders,
  }),
];

function waitingFor(
  product: string,
  speed: number,
  completeAfterMs: number,
  polling: Pick<LoadSettings, 'purchases' | 'firstPollMs' | 'pollIntervalMs'>,
): LoadSettings {
  return { ...polling, product, speed, completeAfterMs };
}

function purchases(
  name: string,
  title: string,
  { settings, quick, isLong }: Pick<Definition<LoadSettings>, 'settings' | 'quick' | 'isLong'>,
): Scenario {
  return scenario(name, title, { sides: BOTH, rounds: 3, settings, quick, isLong, measure: measurePurchases });
}

interface Definition<S> {
  sides: readonly SideName[];
  rounds: number;
  settings: S;
  quick: Partial<S>;
  isLong?: boolean;
  measure(run: Run, settings: S): Promise<Measured>;
}

/** Hides the type of the settings, which only `measure` needs. */
function scenario<S extends object>(name: string, title: string, definition: Definition<S>): Scenario {
  const { sides, rounds, isLong, measure } = definition;
  const [settings, quick] = [definition.settings as unknown as Settings, definition.quick as Settings];
  return {
    name,
    title,
    sides,
    rounds,
    settings,
    quick,
    isLong,
    measure: (run, given) => measure(run, given as unknown as S),
  };
}
