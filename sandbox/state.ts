import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import { type Catalogue, makeCatalogue } from './catalogue';
import { OrderClock, type Now } from './clock';
import { toMinor } from './currency';
import { FaultList } from './faults';
import { History } from './history';
import { parse, strictObject } from './input';
import { Ledger } from './ledger';
import { RequestLog } from './request-log';
import { Responses } from './responses';
import { DEFAULT_SETTINGS, type FixedOptions, fixedOptions, parseSettings, type Settings } from './settings';

/** The whole state of the sandbox. The routes read and change it. */
export interface SandboxState {
  seed: string;
  now: Now;
  clock: OrderClock;
  settings: Settings;
  catalogue: Catalogue;
  ledger: Ledger;
  history: History;
  faults: FaultList;
  requests: RequestLog;
  responses: Responses;
  /** Aborted when the sandbox closes, which ends everything that waits. */
  closing: AbortController;
}

/** @throws BadInput for an invalid setting or option */
export function createState(options: FixedOptions, given: unknown): SandboxState {
  const { seed, products, balance, now } = parse(fixedOptions, options);
  const settings = { ...DEFAULT_SETTINGS, ...parseSettings(given) };
  const clock = new OrderClock(now, settings.speed);
  const catalogue = makeCatalogue(seed, products);
  const openingMinor = toMinor(balance);
  const historyRequests = (): number => history.requests;
  const ledger = new Ledger({ seed, catalogue, now, clock, settings, openingMinor, historyRequests });
  const history = new History(ledger, settings, now);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const [faults, requests, responses] = [new FaultList(), new RequestLog(), new Responses(seed, now)];
  return { seed, now, clock, settings, catalogue, ledger, history, faults, requests, responses, closing };
}

/** @throws BadInput, in which case nothing has changed */
export function changeSettings(state: SandboxState, change: unknown): Settings {
  const settings = parseSettings(change);
  if (settings.speed !== undefined) state.clock.setSpeed(settings.speed);
  return Object.assign(state.settings, settings);
}

const clockChange = strictObject({ advanceMs: z.number().min(0) });

/**
 * Ages every order.
 *
 * @throws BadInput
 */
export function advance(state: SandboxState, change: unknown): { advancedMs: number } {
  const { advanceMs } = parse(clockChange, change);
  state.clock.advance(advanceMs);
  state.ledger.updateAll();
  return { advancedMs: advanceMs };
}
