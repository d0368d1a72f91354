import type { Answer, PartnerClient, PartnerClientOptions } from '../../partner';
import { loadPartner } from '../lazy';
import type { Problem, Reading } from './check';

/** What of the partner's interface is configuration because its document does not show it. */
export interface PartnerLayout {
  listPrefix: string;
  orderPrefix: string;
  historyParams: { search: string; page: string; limit: string };
}

export type PartnerSettings = PartnerClientOptions & PartnerLayout & { timeoutMs: number };

/** Nobody waits longer than that for one answer here, whatever PARTNER_TIMEOUT says. */
const LONGEST_WAIT_MS = 30_000;
/** All requests together begin within that. */
const ALL_MS = 90_000;
const LONGEST_PAUSE_MS = 10_000;
const MOST_TRIES = 3;
const OUT_OF_TIME: Problem = { kind: 'too-late', message: 'not tried: the time for all checks was over' };

/** What was seen beside the answers. Times in ms. */
export interface Observations {
  requests: number;
  /** How often the partner answered 429. */
  limited: number;
  /** How many requests were sent in the second before the first 429. */
  rateWhenLimited?: number;
  slowestMs: number;
  /** The partner's clock less this machine's, to about a second; from the quickest answer. */
  clockDifferenceMs?: number;
}

/** Sends one read after another, under PARTNER_MAX_RPS, to the layout that is configured or to others. Never places an order. */
export class PartnerProbe {
  readonly seen: Observations = { requests: 0, limited: 0, slowestMs: 0 };
  private readonly clients = new Map<string, PartnerClient>();
  private readonly starts: number[] = [];
  private readonly until: number;
  private gapMs: number;
  private quickestMs = Infinity;

  constructor(
    readonly settings: PartnerSettings,
    private readonly now: () => number,
  ) {
    this.until = now() + ALL_MS;
    this.gapMs = 1_000 / (settings.maxRequestsPerSecond ?? Infinity);
  }

  /** One request, and up to two more where the partner answers 429. Throws no PartnerError. */
  async read<T>(
    change: Partial<PartnerLayout>,
    ask: (partner: PartnerClient) => Promise<Answer<T>>,
  ): Promise<Reading<T>> {
    const client = this.clientOf({ ...this.settings, ...change });
    for (let attempt = 1; ; attempt++) {
      if (this.now() > this.until) return { problem: OUT_OF_TIME };
      await this.turn();
      try {
        return { data: await this.timed(() => ask(client)) };
      } catch (error) {
        if (!loadPartner().isPartnerError(error)) throw error;
        if (error.httpStatus !== 429) return { problem: error };
        this.noteLimit();
        if (attempt === MOST_TRIES) return { problem: error };
        await pause(Math.min(error.retryAfterMs ?? 1_000, LONGEST_PAUSE_MS));
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.clients.values()].map((client) => client.close()));
  }

  private clientOf(settings: PartnerSettings): PartnerClient {
    const { listPrefix, orderPrefix, historyParams } = settings;
    const key = JSON.stringify([listPrefix, orderPrefix, historyParams]);
    const timeoutMs = Math.min(settings.timeoutMs, LONGEST_WAIT_MS);
    const client = this.clients.get(key) ?? loadPartner().createPartnerClient({ ...settings, timeoutMs });
    this.clients.set(key, client);
    return client;
  }

  private async turn(): Promise<void> {
    await pause((this.starts.at(-1) ?? -Infinity) + this.gapMs - this.now());
    this.starts.push(this.now());
    this.seen.requests += 1;
  }

  private async timed<T>(ask: () => Promise<Answer<T>>): Promise<T> {
    const start = this.now();
    try {
      const { data, sentAtMs } = await ask();
      this.noteClock(sentAtMs, start, this.now() - start);
      return data;
    } finally {
      this.seen.slowestMs = Math.max(this.seen.slowestMs, this.now() - start);
    }
  }

  /** The header has whole seconds: half of one is what it leaves out on average. */
  private noteClock(sentAtMs: number | undefined, start: number, tookMs: number): void {
    if (sentAtMs === undefined || tookMs >= this.quickestMs) return;
    this.quickestMs = tookMs;
    this.seen.clockDifferenceMs = Math.round(sentAtMs + 500 - (start + tookMs / 2));
  }

  private noteLimit(): void {
    this.seen.limited += 1;
    this.seen.rateWhenLimited ??= this.starts.filter((start) => start > this.now() - 1_000).length;
    this.gapMs = Math.max(this.gapMs, 1_000);
  }
}

function pause(ms: number): Promise<void> {
  return ms > 0 ? new Promise((resolve) => void setTimeout(resolve, ms)) : Promise.resolve();
}
