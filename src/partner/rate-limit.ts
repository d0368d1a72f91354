import { performance } from 'node:perf_hooks';
import { PartnerError } from './errors';
import type { PartnerObserver, RequestFacts } from './hooks';

/** The request with the lowest due time plus allowance (ms) goes first: urgent classes first, and no class starves. */
const ALLOWANCE_MS = { placement: 0, delivery: 0, confirmation: 10_000, poll: 180_000, reconciliation: 300_000 };
const BEGUN_RANK = -1e12;
/** When a refused request may be told to come back. */
const RETURN_MS = { soonest: 250, latest: 600_000 };
const MOST_REMEMBERED = 20_000;

export type PermitClass = keyof typeof ALLOWANCE_MS;

/** How a piece of work waits for permits under `PARTNER_MAX_RPS`. */
export interface PermitRequest {
  class: PermitClass;
  /** Epoch ms: since when the work is due. Default: each request is due when it is made. */
  dueAt?: number;
  /** Epoch ms: a later permit is of no use. Default: it waits as long as it takes. */
  notAfter?: number;
  /** Ends the waiting. */
  signal?: AbortSignal;
}

/** What needs a permit. `notAfter` (epoch ms) is its own deadline, besides that of its work. */
type Request = RequestFacts & { isWrite: boolean; notAfter?: number };

/** The permits of one piece of work. */
export class Permits {
  granted = 0;
  /** Of a placement that has begun: before everything that has not begun or began later. */
  rank: number | undefined;
  ended = false;
  constructor(readonly ask: PermitRequest) {}
}

/** A request in the queue. Times are those of the monotonic clock. `begins`: it is the first of a placement. */
interface Waiting {
  permits: Permits;
  request: Request;
  askedAt: number;
  rank: number;
  notAfter: number;
  begins: boolean;
  /** @param permitInMs undefined: it is granted; Infinity: never */
  answer(permitInMs?: number): void;
}

/** A clock that never jumps: setting the time of day back must not stop all requests. */
export interface MonotonicClock {
  now(): number;
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/**
 * Grants permits at even distances: a quiet minute saves up no burst. A request that can't have one in time is refused at once.
 * A placement begins only if all its requests fit before its deadline, and then goes before everything that has not begun.
 */
export class RateLimit {
  private readonly gapMs: number;
  private queue: Waiting[] = [];
  /** Placements between their first permit and that of their write. */
  private readonly begun = new Set<Permits>();
  /** How many requests a placement takes: the pages of the last complete search, and the write. */
  private placementTakes = 2;
  /** By order id: since when a read that has had no permit yet is due. A refused one keeps its place when it comes back. */
  private readonly dueSince = new Map<string, number>();
  /** When the last refused request of a class comes back. The next one comes after it. */
  private readonly lastReturnAt: Partial<Record<PermitClass, number>> = {};
  private nextPermitAt = -Infinity;
  private timer: unknown;
  private closed = false;

  constructor(
    private readonly options: { maxRequestsPerSecond?: number; now: () => number; observer?: PartnerObserver },
    private readonly clock: MonotonicClock = { now: () => performance.now(), setTimeout, clearTimeout },
  ) {
    this.gapMs = 1_000 / (options.maxRequestsPerSecond ?? Infinity);
  }

  async withPermits<T>(ask: PermitRequest, work: (permits: Permits) => Promise<T>): Promise<T> {
    const permits = new Permits(ask);
    const end = () => this.end(permits);
    if (ask.signal?.aborted) end();
    ask.signal?.addEventListener('abort', end);
    try {
      return await work(permits);
    } finally {
      ask.signal?.removeEventListener('abort', end);
      end();
    }
  }

  /** Waits until the request may be sent. @throws PartnerError `too-late` with `permitInMs`; `closed` */
  async permit(request: Request, permits = new Permits({ class: 'poll' })): Promise<void> {
    const { operation } = request;
    let permitInMs: number | undefined = this.closed || permits.ended ? Infinity : undefined;
    if (permitInMs === undefined && this.gapMs > 0) {
      const askedAt = this.clock.now();
      permitInMs = await new Promise<number | undefined>((answer) => this.enqueue(request, permits, answer));
      this.options.observer?.permitWaited(permits.ask.class, permitInMs === undefined, this.clock.now() - askedAt);
    }
    if (permitInMs === undefined) return;
    if (permitInMs === Infinity) throw new PartnerError('closed', 'the client or this work has ended', { operation });
    const message = `not sent, no permit under PARTNER_MAX_RPS for about ${Math.ceil(permitInMs / 1_000)} s`;
    throw new PartnerError('too-late', message, { operation, permitInMs });
  }

  close(): void {
    this.closed = true;
    this.clock.clearTimeout(this.timer);
    for (const { answer } of this.takeOut(() => true)) answer(Infinity);
  }

  private end(permits: Permits): void {
    permits.ended = true;
    this.begun.delete(permits);
    for (const { answer } of this.takeOut((waiting) => waiting.permits === permits)) answer(Infinity);
  }

  private enqueue(request: Request, permits: Permits, answer: Waiting['answer']): void {
    const askedAt = this.clock.now();
    const onClock = (epochMs = Infinity) => askedAt + epochMs - this.options.now();
    const { ask, granted } = permits;
    if (request.isWrite && granted > 0) this.placementTakes = granted + 1;
    const begins = ask.class === 'placement' && granted === 0 && !request.isWrite;
    const since = this.dueSince.get(request.orderId ?? '') ?? Infinity;
    const dueAt = Math.min(ask.dueAt === undefined ? askedAt : onClock(ask.dueAt), since);
    if (this.dueSince.size >= MOST_REMEMBERED) this.dueSince.clear();
    if (request.orderId !== undefined) this.dueSince.set(request.orderId, dueAt);
    const rank = permits.rank ?? dueAt + ALLOWANCE_MS[ask.class];
    const notAfter = Math.min(onClock(ask.notAfter), onClock(request.notAfter));
    this.queue.push({ permits, request, askedAt, rank, notAfter, begins, answer });
    this.queue.sort((one, other) => one.rank - other.rank);
    this.grantNext();
  }

  private grantNext(): void {
    this.clock.clearTimeout(this.timer);
    this.refuseLate();
    const now = this.clock.now();
    const next = now >= this.nextPermitAt ? this.queue.shift() : undefined;
    if (next) {
      // A timer that is a little late must not lower the rate. After a longer pause the spacing begins anew.
      this.nextPermitAt = (now - this.nextPermitAt < this.gapMs ? this.nextPermitAt : now) + this.gapMs;
      this.noteGranted(next, now);
      next.answer();
    }
    if (this.queue.length === 0) return;
    this.timer = this.clock.setTimeout(() => this.grantNext(), Math.max(0, this.nextPermitAt - now));
  }

  private noteGranted({ permits, request, begins }: Waiting, now: number): void {
    permits.granted += 1;
    this.dueSince.delete(request.orderId ?? '');
    if (begins) permits.rank = BEGUN_RANK + now;
    if (begins) this.begun.add(permits);
    if (request.isWrite) this.begun.delete(permits);
  }

  /** Goes through the permits to come as if nobody else came. */
  private refuseLate(): void {
    let at = Math.max(this.clock.now(), this.nextPermitAt);
    const late = this.takeOut((waiting) => {
      const needs = this.needsOf(waiting);
      if (at + needs.ms > waiting.notAfter) return true;
      at += needs.permits * this.gapMs;
      return false;
    });
    for (const waiting of late) waiting.answer(this.permitInMs(waiting, at));
  }

  /** The permits that a request and those after it take, and the time from the first of them to the last. */
  private needsOf({ begins, askedAt, notAfter }: Waiting): { permits: number; ms: number } {
    if (!begins) return { permits: 1, ms: 0 };
    const reserved = [...this.begun].reduce((sum, { granted }) => sum + Math.max(0, this.placementTakes - granted), 0);
    const needsMs = (reserved + this.placementTakes - 1) * this.gapMs;
    // If even an idle queue has no time for the last search, the first one begins: it may be shorter now.
    const isTooLong = reserved === 0 && needsMs > notAfter - askedAt;
    return { permits: this.placementTakes, ms: isTooLong ? Math.max(0, notAfter - askedAt - this.gapMs) : needsMs };
  }

  /** After those that were refused before, but early by half of the time that it can wait: a permit nobody asks for is lost. */
  private permitInMs(waiting: Waiting, queueEndsAt: number): number {
    const { permits, askedAt, notAfter } = waiting;
    const needs = this.needsOf(waiting);
    const returnAt = Math.max(this.lastReturnAt[permits.ask.class] ?? 0, queueEndsAt) + needs.permits * this.gapMs;
    this.lastReturnAt[permits.ask.class] = returnAt;
    const earlyMs = Math.max(0, notAfter - askedAt - needs.ms) / 2;
    return Math.min(Math.max(returnAt - earlyMs - this.clock.now(), RETURN_MS.soonest), RETURN_MS.latest);
  }

  /** Takes out of the queue what `isWanted` picks. It is asked in the order of the queue. */
  private takeOut(isWanted: (waiting: Waiting) => boolean): Waiting[] {
    const taken = new Set(this.queue.filter(isWanted));
    this.queue = this.queue.filter((waiting) => !taken.has(waiting));
    return [...taken];
  }
}
