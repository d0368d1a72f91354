import { performance } from 'node:perf_hooks';
import { PartnerError } from './errors';
import type { PartnerObserver, RequestFacts } from './hooks';

/** Added to a request's due time, in ms. The lowest sum goes first, so urgent work goes first, and nothing starves. */
const ALLOWANCE_MS = { placement: 0, delivery: 0, confirmation: 10_000, poll: 180_000, reconciliation: 300_000 };
const BEGUN_RANK = -1e12;
/** The shortest and the longest time after which a refused request is told to come back. */
const RETURN_MS = { soonest: 250, latest: 600_000 };
const MAX_REMEMBERED = 20_000;

export type PermitClass = keyof typeof ALLOWANCE_MS;

/** How a piece of work waits for permits under `PARTNER_MAX_RPS`. */
export interface PermitRequest {
  class: PermitClass;
  /** Epoch ms: when the work became due. Default: each request is due when it asks for its permit. */
  dueAt?: number;
  /** Epoch ms: the latest useful time for a permit. Default: none. */
  notAfter?: number;
  /** Ends the waiting. */
  signal?: AbortSignal;
}

/** `notAfter` (epoch ms) is the request's own deadline, in addition to that of its work. */
type Request = RequestFacts & { isWrite: boolean; notAfter?: number };

/** The permits of one piece of work. */
export class Permits {
  granted = 0;
  /** Set for a placement that has started. It goes before work that has not started or that started later. */
  rank: number | undefined;
  ended = false;
  constructor(readonly ask: PermitRequest) {}
}

/** A request in the queue. Times are on the monotonic clock. `begins`: it is the first request of a placement. */
interface Waiting {
  permits: Permits;
  request: Request;
  askedAt: number;
  rank: number;
  notAfter: number;
  begins: boolean;
  /** @param permitInMs undefined: granted; Infinity: never */
  resolve(permitInMs?: number): void;
}

/** Monotonic, because setting the system time back must not stop all requests. */
export interface MonotonicClock {
  now(): number;
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/**
 * Grants permits at even intervals, so a quiet minute allows no burst later. A request that can't get a permit in time
 * is refused at once. A placement starts only if all its requests fit before its deadline, and then goes first.
 */
export class RateLimit {
  private readonly gapMs: number;
  private queue: Waiting[] = [];
  /** Placements that have their first permit but not yet the one for their write. */
  private readonly begun = new Set<Permits>();
  /** How many requests a placement needs: the pages of the last complete search, and the write. */
  private requestsPerPlacement = 2;
  /** By order id: when a read without a permit became due. A refused read keeps its place when it comes back. */
  private readonly dueSince = new Map<string, number>();
  /** When the last refused request of a class comes back. The next refused request is told to come back later. */
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

  /**
   * Waits until the request may be sent.
   * @throws PartnerError `too-late` with `permitInMs`; `closed`
   */
  async permit(request: Request, permits = new Permits({ class: 'poll' })): Promise<void> {
    const { operation } = request;
    let permitInMs: number | undefined = this.closed || permits.ended ? Infinity : undefined;
    if (permitInMs === undefined && this.gapMs > 0) {
      const askedAt = this.clock.now();
      permitInMs = await new Promise<number | undefined>((resolve) => this.enqueue(request, permits, resolve));
      this.options.observer?.permitWaited(permits.ask.class, permitInMs === undefined, this.clock.now() - askedAt);
    }
    if (permitInMs === undefined) return;
    if (permitInMs === Infinity)
      throw new PartnerError('closed', 'not sent, because the worker is stopping or no longer needs it', { operation });
    const message = `not sent, because PARTNER_MAX_RPS allows no request for about ${Math.ceil(permitInMs / 1_000)} s`;
    throw new PartnerError('too-late', message, { operation, permitInMs });
  }

  close(): void {
    this.closed = true;
    this.clock.clearTimeout(this.timer);
    for (const { resolve } of this.takeOut(() => true)) resolve(Infinity);
  }

  private end(permits: Permits): void {
    permits.ended = true;
    this.begun.delete(permits);
    for (const { resolve } of this.takeOut((waiting) => waiting.permits === permits)) resolve(Infinity);
  }

  private enqueue(request: Request, permits: Permits, resolve: Waiting['resolve']): void {
    const askedAt = this.clock.now();
    const onClock = (epochMs = Infinity) => askedAt + epochMs - this.options.now();
    const { ask, granted } = permits;
    if (request.isWrite && granted > 0) this.requestsPerPlacement = granted + 1;
    const begins = ask.class === 'placement' && granted === 0 && !request.isWrite;
    const since = this.dueSince.get(request.orderId ?? '') ?? Infinity;
    const dueAt = Math.min(ask.dueAt === undefined ? askedAt : onClock(ask.dueAt), since);
    if (this.dueSince.size >= MAX_REMEMBERED) this.dueSince.clear();
    if (request.orderId !== undefined) this.dueSince.set(request.orderId, dueAt);
    const rank = permits.rank ?? dueAt + ALLOWANCE_MS[ask.class];
    const notAfter = Math.min(onClock(ask.notAfter), onClock(request.notAfter));
    this.queue.push({ permits, request, askedAt, rank, notAfter, begins, resolve });
    this.queue.sort((one, other) => one.rank - other.rank);
    this.grantNext();
  }

  private grantNext(): void {
    this.clock.clearTimeout(this.timer);
    this.refuseLate();
    const now = this.clock.now();
    const next = now >= this.nextPermitAt ? this.queue.shift() : undefined;
    if (next) {
      // A late timer must not lower the rate. After a longer gap the spacing starts again.
      this.nextPermitAt = (now - this.nextPermitAt < this.gapMs ? this.nextPermitAt : now) + this.gapMs;
      this.noteGranted(next, now);
      next.resolve();
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

  /**
   * Simulates the next permits as if no other requests arrived, and refuses requests that would get theirs too late.
   */
  private refuseLate(): void {
    let at = Math.max(this.clock.now(), this.nextPermitAt);
    const late = this.takeOut((waiting) => {
      const needs = this.needsOf(waiting);
      if (at + needs.ms > waiting.notAfter) return true;
      at += needs.permits * this.gapMs;
      return false;
    });
    for (const waiting of late) waiting.resolve(this.permitInMs(waiting, at));
  }

  /** How many permits a request and its successors need, and the time from the first to the last. */
  private needsOf({ begins, askedAt, notAfter }: Waiting): { permits: number; ms: number } {
    if (!begins) return { permits: 1, ms: 0 };
    const reserved = [...this.begun].reduce(
      (sum, { granted }) => sum + Math.max(0, this.requestsPerPlacement - granted),
      0,
    );
    const needsMs = (reserved + this.requestsPerPlacement - 1) * this.gapMs;
    // If the search is too long even for an idle queue, it starts anyway, because it may be shorter this time.
    const isTooLong = reserved === 0 && needsMs > notAfter - askedAt;
    return {
      permits: this.requestsPerPlacement,
      ms: isTooLong ? Math.max(0, notAfter - askedAt - this.gapMs) : needsMs,
    };
  }

  /**
   * When a refused request should come back: after earlier refused requests, but early by half of the time that it can
   * wait, because an unused permit is lost.
   */
  private permitInMs(waiting: Waiting, queueEndsAt: number): number {
    const { permits, askedAt, notAfter } = waiting;
    const needs = this.needsOf(waiting);
    const returnAt = Math.max(this.lastReturnAt[permits.ask.class] ?? 0, queueEndsAt) + needs.permits * this.gapMs;
    this.lastReturnAt[permits.ask.class] = returnAt;
    const earlyMs = Math.max(0, notAfter - askedAt - needs.ms) / 2;
    return Math.min(Math.max(returnAt - earlyMs - this.clock.now(), RETURN_MS.soonest), RETURN_MS.latest);
  }

  /** Removes the wanted requests from the queue. `isWanted` is called in the order of the queue. */
  private takeOut(isWanted: (waiting: Waiting) => boolean): Waiting[] {
    const taken = new Set(this.queue.filter(isWanted));
    this.queue = this.queue.filter((waiting) => !taken.has(waiting));
    return [...taken];
  }
}
