import { setTimeout as sleep } from 'node:timers/promises';
import type { DoctorConfig } from '../../config';
import {
  createPartnerClient,
  isPartnerError,
  type PartnerClient,
  type PartnerError,
  type PartnerResponse,
} from '../../partner';

type PartnerSettings = NonNullable<DoctorConfig['partner']>;
/** The configured part of the partner's interface, which its document does not show. */
export type PartnerLayout = Pick<PartnerSettings, 'listPrefix' | 'orderPrefix' | 'historyParams'>;

/** The result of one request: `data`, or a `problem` whose text is safe to print. */
export type Reading<T> = { data: T; problem?: undefined } | { data?: undefined; problem: Problem };
export type Problem = Pick<PartnerError, 'kind' | 'message' | 'httpStatus' | 'traceId' | 'retryAfterMs'>;

/** The longest wait for a response, even if PARTNER_TIMEOUT is longer. */
const MAX_WAIT_MS = 30_000;
/** All requests start within this time. */
const ALL_MS = 90_000;
const MAX_PAUSE_MS = 10_000;
const MAX_TRIES = 3;
const OUT_OF_TIME: Problem = { kind: 'too-late', message: 'skipped: the checks ran out of time' };

/**
 * Reads from the partner, one request at a time and within PARTNER_MAX_RPS, in the configured layout or in others. It
 * never places an order.
 */
export class PartnerProbe {
  /** What the responses show apart from their content. Times are in ms. */
  readonly seen = {
    requests: 0,
    /** How often the partner returned 429, and how many requests came within a second before the first 429. */
    limited: 0,
    rateWhenLimited: undefined as number | undefined,
    slowestMs: 0,
    /** The partner's clock minus this machine's, to about a second. Measured with the quickest response. */
    clockDifferenceMs: undefined as number | undefined,
  };
  /** Whether any request got a response, whatever its status. */
  hasResponded = false;
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

  /** Sends a request, and up to two more if the partner returns 429. It throws no PartnerError. */
  async read<T>(
    change: Partial<PartnerLayout>,
    ask: (partner: PartnerClient) => Promise<PartnerResponse<T>>,
  ): Promise<Reading<T>> {
    const timeoutMs = Math.min(this.settings.timeoutMs, MAX_WAIT_MS);
    const client = createPartnerClient({ ...this.settings, ...change, timeoutMs });
    try {
      for (let attempt = 1; this.now() < this.until; attempt++) {
        await sleep(Math.max(0, (this.starts.at(-1) ?? -Infinity) + this.gapMs - this.now()));
        const reading = await this.readOnce(() => ask(client));
        if (reading.problem?.httpStatus !== 429) return reading;
        this.seen.limited += 1;
        this.seen.rateWhenLimited ??= this.starts.filter((start) => start > this.now() - 1_000).length;
        this.gapMs = Math.max(this.gapMs, 1_000);
        if (attempt === MAX_TRIES) return reading;
        await sleep(Math.min(reading.problem.retryAfterMs ?? 1_000, MAX_PAUSE_MS));
      }
      return { problem: OUT_OF_TIME };
    } finally {
      await client.close();
    }
  }

  private async readOnce<T>(ask: () => Promise<PartnerResponse<T>>): Promise<Reading<T>> {
    const start = this.now();
    this.starts.push(start);
    this.seen.requests += 1;
    try {
      const { data, sentAtMs } = await ask();
      this.hasResponded = true;
      const tookMs = this.now() - start;
      if (sentAtMs !== undefined && tookMs < this.quickestMs) {
        this.quickestMs = tookMs;
        // The header has whole seconds, so it is half a second early on average.
        this.seen.clockDifferenceMs = Math.round(sentAtMs + 500 - (start + tookMs / 2));
      }
      return { data };
    } catch (error) {
      if (!isPartnerError(error)) throw error;
      this.hasResponded ||= error.httpStatus !== undefined;
      return { problem: error };
    } finally {
      this.seen.slowestMs = Math.max(this.seen.slowestMs, this.now() - start);
    }
  }
}
