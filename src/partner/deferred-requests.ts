import type { Share } from './slot-schedule';

interface Deferred {
  share: Share;
  due: number;
  /** When it is expected back. */
  at: number;
}

/** Who has not come back so long after its time is gone: its purchase has ended, or its worker is another one. */
const GRACE_MS = 30_000;
const MOST_REMEMBERED = 20_000;

/**
 * The requests that were told to come later, by the key that they come back under: so each keeps its place, and is told a time
 * behind those that are older due. It keeps no slot for them. Times are those of the schedule's clock.
 */
export class DeferredRequests {
  private readonly byKey = new Map<string, Deferred>();

  /** Since when the request that comes back is due. */
  comeBack(key: string, due: number): number {
    const before = this.byKey.get(key);
    this.byKey.delete(key);
    return before ? Math.min(before.due, due) : due;
  }

  /** How many of the share are expected that are due as long, or longer. */
  countBefore(share: Share, due: number, now: number): number {
    let count = 0;
    for (const [key, deferred] of this.byKey) {
      if (deferred.at + GRACE_MS < now) this.byKey.delete(key);
      else if (deferred.share === share && deferred.due <= due) count += 1;
    }
    return count;
  }

  add(key: string, deferred: Deferred): void {
    this.byKey.set(key, deferred);
    if (this.byKey.size > MOST_REMEMBERED) this.byKey.delete(this.byKey.keys().next().value ?? key);
  }
}
