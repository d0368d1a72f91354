import { Answers } from './answer';
import { makeCatalogue, type Catalogue } from './catalogue';
import { OrderClock, Timers, type Now } from './clock';
import { toMinor } from './currency';
import { FaultBook } from './faults';
import { History } from './history';
import { BadInput, integer, optional, text } from './input';
import { Ledger } from './ledger';
import { RequestLog } from './request-log';
import { checkedSettings, DEFAULT_SETTINGS, money, type Settings } from './settings';

/** What is fixed when the world is made. */
export interface WorldOptions {
  /** Catalogue, order ids and keys depend on it alone. Default `sandbox`. */
  seed?: string;
  /** Ordinary products beside the scenarios, 1,000 to 20,000; default 1,200. */
  products?: number;
  /** Opening balance in the account's currency, as a decimal number; default 100,000. */
  balance?: number;
  /** Time of day; orders age by it too, times `speed`. Default the machine's. */
  now?: Now;
}

/** All that the sandbox holds. The routes are views of it. */
export interface World {
  seed: string;
  now: Now;
  clock: OrderClock;
  timers: Timers;
  settings: Settings;
  catalogue: Catalogue;
  ledger: Ledger;
  history: History;
  faults: FaultBook;
  requests: RequestLog;
  answers: Answers;
}

/** @throws BadInput for a setting or an option out of its values */
export function makeWorld(options: WorldOptions, given: Partial<Settings>): World {
  const seed = optional(options.seed, (value) => text(value, 'seed')) ?? 'sandbox';
  const products = integer(options.products ?? 1_200, 'products', 1_000, 20_000);
  const openingMinor = toMinor(money(options.balance ?? 100_000, 'balance'));
  const now = options.now ?? Date.now;

  const settings = { ...DEFAULT_SETTINGS, ...checkedSettings(given) };
  const clock = new OrderClock(now, settings.speed);
  const catalogue = makeCatalogue(seed, products);
  const historyRequests = (): number => history.requests;
  const ledger = new Ledger({ seed, catalogue, now, clock, settings, openingMinor, historyRequests });
  const history = new History(ledger, settings, now);

  return {
    seed,
    now,
    clock,
    timers: new Timers(),
    settings,
    catalogue,
    ledger,
    history,
    faults: new FaultBook(),
    requests: new RequestLog(),
    answers: new Answers(seed, now),
  };
}

/** @throws BadInput, and then nothing has changed */
export function changeSettings(world: World, change: unknown): Settings {
  const checked = checkedSettings(change);
  if (checked.speed !== undefined) world.clock.setSpeed(checked.speed);
  return Object.assign(world.settings, checked);
}

/** @throws BadInput when the time would run backwards */
export function advance(world: World, ms: number): void {
  if (!(ms >= 0 && Number.isFinite(ms))) throw new BadInput('advanceMs: needs a number of milliseconds, 0 or more');
  world.clock.advance(ms);
  world.ledger.settleAll();
}
