import { DeferredRequests } from './deferred-requests';
import { RANKS, type RequestPriority, SlotSchedule, type Waiting } from './slot-schedule';

/** How requests that belong together wait for their slots. Times are milliseconds of the queue's clock. */
export interface QueueTurn {
  priority: RequestPriority;
  /** The same at each new try, so that a request that was told to come later keeps its place. */
  key: string | undefined;
  /** Since when it is due; the oldest goes first. */
  due: number;
  /** A slot that comes later is of no use. */
  notAfter: number;
}

export interface QueueClock {
  /** Milliseconds that never jump, unlike the time of day: a clock set back must not stop all requests. */
  now(): number;
  /** @returns cancels it. */
  after(ms: number, run: () => void): () => void;
}

/**
 * What became of a request that asked for a slot. `permitInMs` is about when one may come for it; without it, nobody is to ask
 * again: the queue was closed, or its turn has ended.
 */
export type SlotAnswer = { granted: true } | { granted: false; permitInMs: number | undefined };

interface Entry extends Waiting {
  turn: QueueTurn;
  answer: (answer: SlotAnswer) => void;
}

/** A turn is told to come back no sooner and no later than this. */
const SOONEST_MS = 250;
const LATEST_MS = 600_000;

/**
 * Spaces requests to at most `perSecond` a second and decides who goes first: see {@link SlotSchedule}. It saves up nothing: a
 * quiet minute allows no burst. Who can't have a slot in time is told so at once and takes none; a placement that may begin
 * its search has time for its write, too.
 */
export class RequestQueue {
  private readonly schedule = new SlotSchedule<Entry>();
  private readonly deferred = new DeferredRequests();
  /** Placements whose search has begun and whose write has not come yet, with the time of their first slot. */
  private readonly searching = new Map<QueueTurn, number>();
  private readonly gapMs: number;
  private nextSlot = -Infinity;
  /** How long the search of a placement took last: from its first slot until its write came. */
  private lastSearchMs = 0;
  private cancelTimer: (() => void) | undefined;
  private closed = false;

  constructor(
    perSecond: number,
    private readonly clock: QueueClock,
  ) {
    this.gapMs = 1000 / perSecond;
  }

  /** How many wait now. */
  get waiting(): number {
    return this.schedule.entries.length;
  }

  /** Begins a turn, or takes up again one that was told to come later. */
  open(turn: QueueTurn): QueueTurn {
    const key = turn.key === undefined ? undefined : `${turn.priority} ${turn.key}`;
    return { ...turn, key, due: key === undefined ? turn.due : this.deferred.comeBack(key, turn.due) };
  }

  /** Waits for a slot. @param notAfter where it is of no use after that, be the turn longer. */
  slot(turn: QueueTurn, kind: 'read' | 'write', notAfter = Infinity): Promise<SlotAnswer> {
    if (this.closed) return Promise.resolve({ granted: false, permitInMs: undefined });
    return new Promise((answer) => {
      this.schedule.add({ ...this.entryOf(turn, kind), notAfter: Math.min(turn.notAfter, notAfter), turn, answer });
      this.grant();
    });
  }

  /** Nothing more comes of this turn. What still waits is answered without a slot. */
  end(turn: QueueTurn): void {
    this.searchEnded(turn);
    for (const entry of this.schedule.entries) if (entry.turn === turn) this.leave(entry, undefined);
  }

  close(): void {
    this.closed = true;
    this.cancelTimer?.();
    for (const entry of this.schedule.entries) this.leave(entry, undefined);
  }

  private entryOf(turn: QueueTurn, kind: 'read' | 'write') {
    const { priority, due, notAfter } = turn;
    if (kind === 'write') {
      this.searchEnded(turn);
      return { ...RANKS.write, due, opensPlacement: false, searchMs: 0 };
    }
    if (this.searching.has(turn)) return { ...RANKS.furtherPage, due, opensPlacement: false, searchMs: 0 };
    const opensPlacement = priority === 'placement';
    // Whoever is first in the line is let through, also after one endless search: else nothing would show that searches are faster again.
    const most = Math.max(0, notAfter - this.clock.now() - 3 * this.gapMs);
    return {
      ...RANKS[priority],
      due,
      opensPlacement,
      searchMs: opensPlacement ? Math.min(this.lastSearchMs, most) : 0,
    };
  }

  private searchEnded(turn: QueueTurn): void {
    const begun = this.searching.get(turn);
    if (begun !== undefined) this.lastSearchMs = this.clock.now() - begun;
    this.searching.delete(turn);
  }

  /** Gives away the slot that has come, if one has, and looks after those who wait for the next. */
  private grant(): void {
    this.cancelTimer?.();
    this.refuseLate();
    const now = this.clock.now();
    if (now >= this.nextSlot) {
      const entry = this.schedule.take();
      if (!entry) return;
      // A timer that is a little late must not lower the rate; after a longer pause it begins anew.
      this.nextSlot = (now - this.nextSlot < this.gapMs ? this.nextSlot : now) + this.gapMs;
      if (entry.opensPlacement) this.searching.set(entry.turn, now);
      entry.answer({ granted: true });
    }
    if (this.waiting === 0) return;
    this.cancelTimer = this.clock.after(Math.max(0, this.nextSlot - now), () => this.grant());
  }

  private refuseLate(): void {
    const now = this.clock.now();
    const firstSlot = Math.max(now, this.nextSlot);
    const times = { firstSlot, gapMs: this.gapMs, searching: this.searching.size };
    const { late, end } = this.schedule.forecast(times);
    for (const entry of late) this.schedule.remove(entry);
    for (const entry of late) this.leave(entry, this.permitInMs(entry, end[entry.share], now));
  }

  /**
   * Who comes back early waits in the queue, which loses no slot; so everybody is told half of its waiting time less than the
   * forecast.
   */
  private permitInMs({ turn, share, due, notAfter, opensPlacement }: Entry, end: number, now: number): number {
    const before = this.deferred.countBefore(share, due, now);
    const slots = before * (opensPlacement ? 2 : 1);
    const isShared = this.schedule.entries.some((entry) => entry.share !== share);
    const at = end + slots * this.gapMs * (isShared ? 2 : 1);
    const early = Math.max(0, notAfter - now) / 2;
    const permitInMs = Math.min(Math.max(at - now - early, SOONEST_MS), LATEST_MS);
    if (turn.key !== undefined) this.deferred.add(turn.key, { share, due, at: now + permitInMs });
    return permitInMs;
  }

  private leave(entry: Entry, permitInMs: number | undefined): void {
    this.schedule.remove(entry);
    entry.answer({ granted: false, permitInMs });
  }
}
