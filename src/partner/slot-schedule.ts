/**
 * What a request is for, which decides its share of the slots and its urgency. `placement`: the search before a placement
 * and its write. The others are reads: of a `delivery`, a `search` of the order history that settles a placement, a `poll`,
 * and whatever the `reconciliation` reads.
 */
export type RequestPriority = 'placement' | 'delivery' | 'search' | 'poll' | 'reconciliation';

export type Share = 'placement' | 'paid' | 'reconciliation';

/** A request that waits for its slot. Times are milliseconds of one clock that never jumps. */
export interface Waiting {
  share: Share;
  /** Within the share the lowest goes first; 0 goes before all others. */
  rank: number;
  /** Of the same rank, the oldest due goes first. */
  due: number;
  /** A slot that comes later is of no use. */
  notAfter: number;
  /** The first request of a placement. Its write needs a slot in time, too, when its search is done. */
  opensPlacement: boolean;
  /** How long the search of that placement may take. */
  searchMs: number;
}

/** What a forecast begins with. */
export interface SlotTimes {
  firstSlot: number;
  gapMs: number;
  /** Placements whose search has begun and whose write is not waiting yet. */
  searching: number;
}

export interface Forecast<Entry> {
  /** Those whose slot would come too late, in the order in which they would have had one. */
  late: Entry[];
  /** For each share, the first slot after all others of it. */
  end: Record<Share, number>;
}

/**
 * The share and the rank of a request. Urgency: the write of a placement whose search is done, then inside the shares the
 * further pages of a search that has begun, the reads of deliveries, searches, polls.
 */
export const RANKS = {
  write: { share: 'placement', rank: 0 },
  furtherPage: { share: 'placement', rank: 1 },
  placement: { share: 'placement', rank: 2 },
  delivery: { share: 'paid', rank: 1 },
  search: { share: 'paid', rank: 2 },
  poll: { share: 'paid', rank: 3 },
  reconciliation: { share: 'reconciliation', rank: 1 },
} as const;

/** While all of them wait, the reconciliation gets one slot in twenty, and the other two half of the rest each. */
const WEIGHT: Record<Share, number> = { placement: 19, paid: 19, reconciliation: 2 };
const SHARES = Object.keys(WEIGHT) as Share[];
/** In the share of orders already paid for, each fourth slot goes to the oldest due, so that no rank starves. */
const OLDEST_EVERY = 4;
/** So many of a share may wait, at the most: each of them keeps one of the worker's activity slots. */
const MOST_WAITING = 100;

/**
 * Decides which request gets the next slot. Weighted fair queueing over the shares: each slot moves its share's `used` on
 * by one over its weight, and the share that is least far gets the next one. A share that was idle saves nothing up. Knows no
 * clock and no timer.
 */
export class SlotSchedule<Entry extends Waiting> {
  /** Each sorted by rank and due; of equals, the one that came first. */
  private waiting: Record<Share, Entry[]> = { placement: [], paid: [], reconciliation: [] };
  private used: Record<Share, number> = { placement: 0, paid: 0, reconciliation: 0 };
  private usedByAll = 0;
  private slotsOfPaid = 0;

  get entries(): Entry[] {
    return SHARES.flatMap((share) => this.waiting[share]);
  }

  add(entry: Entry): void {
    const { share } = entry;
    const own = this.waiting[share];
    if (own.length === 0) this.used[share] = Math.max(this.used[share], this.usedByAll);
    const behind = own.findIndex((one) => byRank(entry, one) < 0);
    own.splice(behind < 0 ? own.length : behind, 0, entry);
  }

  remove(entry: Entry): void {
    const own = this.waiting[entry.share];
    const index = own.indexOf(entry);
    if (index >= 0) own.splice(index, 1);
  }

  /** Takes out the one that gets the slot now. */
  take(): Entry | undefined {
    const entry = this.next();
    if (!entry) return undefined;
    this.remove(entry);
    this.charge(entry.share);
    return entry;
  }

  /** Goes through the slots to come as if nobody else came. */
  forecast({ firstSlot, gapMs, searching }: SlotTimes): Forecast<Entry> {
    const rest = this.copy();
    const late: Entry[] = [];
    const end: Record<Share, number> = { placement: firstSlot, paid: firstSlot, reconciliation: firstSlot };
    const inTime: Record<Share, number> = { placement: 0, paid: 0, reconciliation: 0 };
    let slot = firstSlot;
    for (let entry = rest.next(); entry; entry = rest.next()) {
      rest.remove(entry);
      const { share, opensPlacement, searchMs, notAfter } = entry;
      const lastSlot = opensPlacement ? slot + Math.max(gapMs * (1 + searching), searchMs) : slot;
      if (lastSlot > notAfter || (inTime[share] >= MOST_WAITING && mayBeRefused(entry))) {
        late.push(entry);
        continue;
      }
      rest.charge(share);
      inTime[share] += 1;
      slot += gapMs;
      end[share] = slot;
      if (opensPlacement) rest.add({ ...entry, ...RANKS.write, opensPlacement: false, notAfter: Infinity });
    }
    return { late, end };
  }

  private next(): Entry | undefined {
    const waits = SHARES.filter((share) => this.waiting[share].length > 0);
    const [least] = waits.toSorted((a, b) => this.used[a] - this.used[b]);
    if (least === undefined) return undefined;
    this.usedByAll = this.used[least];
    const { placement, paid } = this.waiting;
    if (placement[0]?.rank === RANKS.write.rank) return placement[0];
    const isTurnOfOldest = least === 'paid' && this.slotsOfPaid % OLDEST_EVERY === OLDEST_EVERY - 1;
    return isTurnOfOldest
      ? paid.reduce((oldest, entry) => (entry.due < oldest.due ? entry : oldest))
      : this.waiting[least][0];
  }

  private charge(share: Share): void {
    this.used[share] += 1 / WEIGHT[share];
    if (share === 'paid') this.slotsOfPaid += 1;
  }

  private copy(): SlotSchedule<Entry> {
    const copy = new SlotSchedule<Entry>();
    for (const share of SHARES) copy.waiting[share] = [...this.waiting[share]];
    copy.used = { ...this.used };
    copy.usedByAll = this.usedByAll;
    copy.slotsOfPaid = this.slotsOfPaid;
    return copy;
  }
}

/** A placement that has begun is seen through, and who has all the time there is can wait. */
function mayBeRefused({ share, rank, notAfter }: Waiting): boolean {
  return notAfter < Infinity && (share !== 'placement' || rank >= RANKS.placement.rank);
}

function byRank(a: Waiting, b: Waiting): number {
  return a.rank - b.rank || a.due - b.due;
}
