import { performance } from 'node:perf_hooks';
import { activityInfo, log } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { ClosedBrake, ReportedPlacement } from '../contracts/brake';
import type { PlacementSign } from '../domain/brake';
import { type BrakeStatus, readBrake, reportToBrake } from '../temporal/client';
import { nameOf } from './failures';

/** So long what is known of the brake counts, in ms: a worker asks the server once in that time, while it places. */
const KNOWN_FOR_MS = 3_000;
/** Temporal does not answer: the brake counts as it was. It protects the sleep of people; the money has its fences. */
const ANSWER_WITHIN_MS = 1_000;
const REPORT_WITHIN_MS = 5_000;
/** More are not kept while Temporal does not answer: the latest say as much. */
const MOST_REPORTS = 100;

/** What a placement learns of the brake. */
export interface BrakeCheck {
  /** Known at once: the placement is to wait. */
  closed: ClosedBrake | undefined;
  /** Asked meanwhile, for a placement that has begun its search: whether it is to wait after all. */
  confirmed(): Promise<ClosedBrake | undefined>;
  /** Reports what the placement has shown of the partner. It does not wait for it. */
  report(sign: PlacementSign): void;
  /** To be called when the placement has ended: the brake waits for whom it has let through, whatever came of it. */
  end(): void;
}

/** The brake of the task queue as a worker sees it. Nothing of it ever throws: what can't be known is open. */
export interface Brake {
  /** @param woken the brake has just woken it, so what was known before does not count. */
  check(placement: { referenceId: string; woken: boolean }): Promise<BrakeCheck>;
  /** Whether the brake is closed now. */
  isClosed(): Promise<boolean>;
}

/** @returns the one of a process, for all its activities. */
export function createBrake(client: Client): Brake {
  const view = createView(client);
  const reports = createReports(client, view.noteRunning);
  return {
    async check({ referenceId, woken }) {
      const refreshing = woken || view.isStale() ? view.refresh(woken) : undefined;
      // An open brake is asked while the placement searches, so that nobody waits for it.
      if (woken || view.closed()) await refreshing;
      // Whom the brake has woken goes on where Temporal does not say otherwise.
      const isTrusted = woken && view.isUnanswered();
      const isLetThrough = isTrusted || view.closed()?.letThrough === referenceId;
      const closedFor = () => (isTrusted || view.closed()?.letThrough === referenceId ? undefined : view.closed());
      let reported = false;
      const report = (sign: PlacementSign) => {
        reported = true;
        const isOfUse = sign === 'NOTHING' ? isLetThrough : sign !== 'GOOD' || view.isRunning();
        if (isOfUse) reports.add({ referenceId, sign }, isLetThrough);
      };
      return {
        closed: closedFor(),
        async confirmed() {
          await refreshing;
          return closedFor();
        },
        report,
        end() {
          if (!reported) report('NOTHING');
        },
      };
    },
    async isClosed() {
      await view.refresh();
      return view.closed() !== undefined;
    },
  };
}

/** What a process knows of the brake. */
function createView(client: Client) {
  let known: BrakeStatus = { running: false };
  let knownAt = -Infinity;
  let isUnanswered = false;
  let asking: Promise<void> | undefined;

  async function ask(taskQueue: string): Promise<void> {
    try {
      known = await readBrake(client, taskQueue, ANSWER_WITHIN_MS);
      isUnanswered = false;
    } catch (error) {
      isUnanswered = true;
      log.warn('the brake could not be asked, and counts as it was', { why: nameOf(error) });
    }
    knownAt = performance.now();
  }

  return {
    closed: () => known.closed,
    isRunning: () => known.running,
    isUnanswered: () => isUnanswered,
    isStale: () => performance.now() - knownAt > KNOWN_FOR_MS,
    /** A report was sent: what was known before no longer counts. */
    noteRunning(running: boolean): void {
      known = { ...known, running };
      knownAt = -Infinity;
    },
    /** Whoever asks meanwhile has the same answer; unless it is to be of now: then the next one. */
    async refresh(ofNow = false): Promise<void> {
      const { taskQueue } = activityInfo();
      if (ofNow) await asking;
      asking ??= ask(taskQueue).finally(() => {
        asking = undefined;
      });
      return asking;
    },
  };
}

/**
 * Sends reports one after the other; those that come meanwhile go together. Of what goes well the latest is enough, and now and then:
 * a workflow takes no more than 10,000 signals. It goes ahead of the next that goes wrong, so that no row is taken for longer.
 */
function createReports(client: Client, onSent: (running: boolean) => void) {
  let waiting: ReportedPlacement[] = [];
  let good: ReportedPlacement | undefined;
  let sentAt = -Infinity;
  let sending = false;

  async function send(taskQueue: string): Promise<void> {
    sending = true;
    while (waiting.length > 0) {
      const placements = waiting;
      waiting = [];
      try {
        onSent(await reportToBrake(client, taskQueue, placements, REPORT_WITHIN_MS));
      } catch (error) {
        log.warn('the brake could not be reported to', { why: nameOf(error) });
      }
      sentAt = performance.now();
    }
    sending = false;
  }

  return {
    add(placement: ReportedPlacement, isLetThrough: boolean): void {
      const mayWait = placement.sign === 'GOOD' && !isLetThrough;
      if (mayWait) good = placement;
      if (mayWait && performance.now() - sentAt < KNOWN_FOR_MS) return;
      const next = mayWait || !good ? [placement] : [good, placement];
      good = undefined;
      waiting = [...waiting, ...next].slice(-MOST_REPORTS);
      if (!sending) void send(activityInfo().taskQueue);
    },
  };
}
