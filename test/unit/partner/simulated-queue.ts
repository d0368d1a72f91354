import { RequestQueue, type QueueTurn } from '../../../src/partner/request-queue';
import { slotPause } from '../../../src/workflows/policies';

/** A clock that only moves to what is due next. All times are ms from 0. */
export class SimulatedClock {
  private time = 0;
  private readonly timers = new Set<{ at: number; run: () => void }>();

  now = (): number => this.time;

  after = (ms: number, run: () => void): (() => void) => {
    const timer = { at: this.time + ms, run };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  };

  sleep = (ms: number): Promise<void> => new Promise((resolve) => void this.after(ms, resolve));

  /** As in a frozen process: time goes by, and nothing runs. */
  freeze(ms: number): void {
    this.time += ms;
  }

  /** Runs all that is due by then, in its order. */
  async runUntil(end: number): Promise<void> {
    await promisesSettled();
    for (;;) {
      const next = [...this.timers].reduce((a, b) => (b.at < a.at ? b : a), { at: Infinity, run: () => undefined });
      if (next.at > end) return;
      this.timers.delete(next);
      this.time = Math.max(this.time, next.at);
      next.run();
      await promisesSettled();
    }
  }
}

function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How long an attempt waits for its slots, as activities do. */
export const WAIT_MS = 8_000;
/** What a retry takes on its way through Temporal. */
const RETRY_MS = 100;

/** A queue on a simulated clock, and the requests that it let pass. */
export function simulate(perSecond: number) {
  const clock = new SimulatedClock();
  const queue = new RequestQueue(perSecond, clock);
  const sent: { at: number; what: string }[] = [];

  /** @returns undefined if it was sent; else when a slot may come, in ms. */
  async function send(turn: QueueTurn, kind: 'read' | 'write', what: string): Promise<number | undefined> {
    const answer = await queue.slot(turn, kind);
    if (!answer.granted) return answer.turnInMs ?? Infinity;
    sent.push({ at: clock.now(), what });
    return undefined;
  }

  function open(priority: QueueTurn['priority'], waitMs = Infinity, more: Partial<QueueTurn> = {}): QueueTurn {
    const now = clock.now();
    return queue.open({ priority, key: undefined, due: now, notAfter: now + waitMs, ...more });
  }

  /** Reads until it had a slot. */
  async function read(priority: QueueTurn['priority'], key: string): Promise<void> {
    for (;;) {
      const turn = open(priority, WAIT_MS, { key });
      const turnInMs = await send(turn, 'read', `${priority} ${key}`);
      queue.end(turn);
      if (turnInMs === undefined) return;
      await clock.sleep(turnInMs + RETRY_MS);
    }
  }

  /** Searches and writes until it is placed. */
  async function place(key: string, searchMs: number): Promise<void> {
    const begun = clock.now();
    for (;;) {
      const turn = open('placement', WAIT_MS, { key, due: begun });
      let turnInMs = await send(turn, 'read', `search ${key}`);
      if (turnInMs === undefined) {
        await clock.sleep(searchMs);
        turnInMs = await send(turn, 'write', `write ${key}`);
      }
      queue.end(turn);
      if (turnInMs === undefined) return;
      await clock.sleep(slotPause(turnInMs) + RETRY_MS);
    }
  }

  return { clock, queue, sent, send, open, read, place };
}
