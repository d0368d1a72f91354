import {
  condition,
  continueAsNew,
  defineSignal,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  setWorkflowOptions,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../contracts/activities';
import type { BrakeActivities, BrakeState, ClosedBrake, PurchasingNotice, ReportedPlacement } from '../contracts/brake';
import { purchaseWorkflowId, REPORT_PLACEMENTS_SIGNAL, RESUME_PLACING_SIGNAL } from '../contracts/names';
import type { PurchaseSettings } from '../contracts/purchase';
import { BRAKE_REASON_IN_WORDS, type BrakeReason, nextRow, type PlacementSign, reasonToClose } from '../domain/brake';
import { readNextPaused } from './activity-result-guards';
import { lastingWorkflowOptions } from './lasting-workflow';
import {
  BRAKE_HISTORY,
  brakeQuiet,
  brakeStepOptions,
  brakeValidity,
  letThroughPause,
  letThroughTimeout,
  localOptions,
  probePause,
  wakeOptions,
} from './policies';
import { detailsOf, escapeMarkdown } from '../domain/markdown';
import { isPlacementSign, readBrakeState } from './brake-state';
import { instant } from './progress';
import { fieldsOf } from './value-guards';

const { readSettings } = proxyLocalActivities<Activities>(localOptions);
const { nextPaused, notifyPurchasing } = proxyActivities<BrakeActivities>(brakeStepOptions);
const { wakePaused } = proxyActivities<BrakeActivities>(wakeOptions);

const reportPlacementsSignal = defineSignal<[ReportedPlacement[]]>(REPORT_PLACEMENTS_SIGNAL);
/** How many purchases that were let through are remembered, so that one whose placement always fails does not stop the others. */
const MOST_TRIED = 20;
/** What a step takes beside its pause and the answer that it waits for, in ms: two short steps of a minute at the most. */
const MINUTES_OF_STEPS = 120_000;

/**
 * Holds new placements of its task queue back while the partner takes none: docs/architecture.md#the-brake. It is started by the
 * first placement that goes wrong, counts those in a row, and ends when one goes well. Closed, it lets one purchase through at a
 * time, whose answer opens it or keeps it closed.
 *
 * It only saves requests and sleep. Nothing depends on it: whoever ends, resets or pauses it opens it, or costs time.
 *
 * @param before what it remembers of the run before.
 */
export async function brakeWorkflow(before?: BrakeState): Promise<void> {
  const brake = new Brake(before);
  const { settings } = await readSettings.executeWithOptions({ summary: 'the settings' }, []);
  while (await brake.step(settings)) {
    if (brake.mayContinueAsNew && workflowInfo().historyLength > BRAKE_HISTORY)
      await continueAsNew<typeof brakeWorkflow>(brake.state);
  }
}

/** The state of the brake, and its steps. */
class Brake {
  readonly state: BrakeState;
  /** What the purchase that was let through has shown. */
  private answer: PlacementSign | undefined;
  private lastWaiting = Date.now();
  /** The purchases that waited are being woken. */
  private waking: Promise<unknown> | undefined;

  constructor(before: BrakeState | undefined) {
    this.state = readBrakeState(before);
    if (this.state.closed) upsertMemo({ brake: this.state.closed });
    setHandler(reportPlacementsSignal, (placements) => this.note(placements));
  }

  get mayContinueAsNew(): boolean {
    return this.waking === undefined;
  }

  /** @returns whether there is another one. */
  async step(settings: PurchaseSettings): Promise<boolean> {
    return this.state.closed ? this.stepClosed(settings, this.state.closed) : this.stepOpen(settings);
  }

  /** Anybody can send anything. What goes on while it is closed is of no use, but for the answer that it waits for. */
  private note(placements: unknown): void {
    for (const placement of Array.isArray(placements) ? placements : []) {
      const { referenceId, sign } = fieldsOf<ReportedPlacement>(placement);
      if (typeof referenceId !== 'string' || !isPlacementSign(sign)) continue;
      const { closed } = this.state;
      if (!closed) this.state.row = nextRow(this.state.row, { referenceId, sign });
      else if (closed.letThrough === referenceId) this.answer = sign;
    }
  }

  /** Counts until there is reason to close it, one goes well, or nothing more is heard. */
  private async stepOpen(settings: PurchaseSettings): Promise<boolean> {
    const { row } = this.state;
    const reason = reasonToClose(row);
    if (reason !== undefined) {
      await this.close(settings, reason);
      return true;
    }
    setCurrentDetails(
      detailsOf([
        `**OPEN**: new orders are placed; ${row.length} placements in a row went wrong.`,
        '**Next:** the answers to the next placements. A good one ends this workflow, and it is started again when it is needed.',
      ]),
    );
    const { waking } = this;
    if (row.length === 0 && !waking) return false;
    const isHeard = await condition(() => this.state.row !== row || this.waking !== waking, brakeQuiet(settings).open, {
      summary: 'then it ends, if nothing goes wrong',
    });
    return isHeard || waking !== undefined;
  }

  private async close(settings: PurchaseSettings, reason: BrakeReason): Promise<void> {
    this.state.closures += 1;
    this.state.failures = 0;
    this.state.tried = [];
    this.lastWaiting = Date.now();
    this.show({ reason, since: Date.now(), until: Date.now() + brakeValidity(settings) });
    log.error('new placements wait', { reason });
    await notify(this.noticeOf('purchasing.paused', reason, {}));
  }

  /** Waits, then lets one purchase through, and sees what comes of it. */
  private async stepClosed(settings: PurchaseSettings, before: ClosedBrake): Promise<boolean> {
    const { failures } = this.state;
    const closed = this.prolong(settings, before);
    const isProbed = closed.reason !== 'NO_BALANCE';
    const pause = isProbed && failures === 0 ? probePause(settings) : letThroughPause(settings, failures);
    await sleep(pause, { summary: 'then it tries whether the partner takes orders' });
    const { why, referenceId } = await this.next(isProbed);
    if (why !== undefined) this.show(closed, why);
    if (why !== undefined || referenceId === undefined) return this.waitOn(settings, closed, why);

    this.lastWaiting = Date.now();
    const sign = await this.letThrough(settings, { ...closed, letThrough: referenceId }, referenceId);
    if (sign === 'GOOD') {
      await this.open(closed);
    } else if (sign === 'NOTHING') {
      this.show(closed);
    } else {
      this.state.failures += 1;
      this.show({ reason: sign ?? closed.reason, since: closed.since, until: closed.until });
    }
    return true;
  }

  /** Each write costs the server: it is one in several minutes. */
  private prolong(settings: PurchaseSettings, closed: ClosedBrake): ClosedBrake {
    const validity = brakeValidity(settings);
    const step = letThroughTimeout(settings) + letThroughPause(settings, this.state.failures);
    if (closed.until - Date.now() > step + MINUTES_OF_STEPS) return closed;
    const prolonged = { ...closed, until: Date.now() + validity };
    this.show(prolonged);
    return prolonged;
  }

  /** For whom nobody waits, opens by itself: the next purchases find out. */
  private async waitOn(settings: PurchaseSettings, closed: ClosedBrake, why: string | undefined): Promise<boolean> {
    if (why !== undefined) this.lastWaiting = Date.now();
    if (Date.now() - this.lastWaiting >= brakeQuiet(settings).closed) await this.open(closed);
    return true;
  }

  private async next(probe: boolean): Promise<ReturnType<typeof readNextPaused>> {
    const summary = probe ? 'reads a row of the order history' : 'finds a purchase that waits';
    const { tried } = this.state;
    const next = await nextPaused
      .executeWithOptions({ summary }, [{ probe, tried }])
      .catch(() => ({ why: 'nobody can be found to let through' }));
    return readNextPaused(next);
  }

  /** @returns what its placement has shown; undefined when nothing was heard of it. */
  private async letThrough(
    settings: PurchaseSettings,
    closed: ClosedBrake,
    referenceId: string,
  ): Promise<PlacementSign | undefined> {
    this.state.tried = [...this.state.tried, referenceId].slice(-MOST_TRIED);
    this.answer = undefined;
    this.show(closed);
    try {
      await getExternalWorkflowHandle(purchaseWorkflowId(referenceId)).signal(RESUME_PLACING_SIGNAL);
    } catch {
      // It has ended meanwhile; lists lag.
      return 'NOTHING';
    }
    await condition(() => this.answer !== undefined, letThroughTimeout(settings), {
      summary: 'then its answer is no longer waited for',
    });
    return this.answer;
  }

  private async open({ reason, since }: ClosedBrake): Promise<void> {
    this.state.row = [];
    this.show(undefined);
    log.warn('new placements go on', { reason });
    await notify(this.noticeOf('purchasing.resumed', reason, { since: new Date(since).toISOString() }));
    this.wakeAll();
  }

  /** Beside everything else, because it may be closed again long before all are woken; that ends it. */
  private wakeAll(): void {
    const summary = 'the purchases that wait, some each second';
    const waking = (this.waking ?? Promise.resolve())
      .then(() => wakePaused.executeWithOptions({ summary }, []))
      .catch(() => log.warn('not all that wait were woken: they ask by themselves'))
      .finally(() => {
        if (this.waking === waking) this.waking = undefined;
      });
    this.waking = waking;
  }

  private show(closed: ClosedBrake | undefined, why = ''): void {
    // Each write costs the server: a probe that fails again changes nothing.
    if (closed !== this.state.closed) upsertMemo({ brake: closed ?? null });
    this.state.closed = closed;
    if (!closed) return setCurrentDetails(detailsOf(['**OPEN**: the purchases that waited are woken.']));
    const { reason, since, letThrough } = closed;
    const next =
      letThrough === undefined
        ? why || 'it tries again by itself'
        : `${letThrough} is let through, and its answer counts`;
    setCurrentDetails(
      detailsOf([
        `**CLOSED** since ${instant(since)}: ${BRAKE_REASON_IN_WORDS[reason]}. New purchases wait; nothing of them is sent.`,
        `**Next:** ${escapeMarkdown(next)}.`,
        reason === 'NO_BALANCE' && '**You** put money into the account at the partner. The rest goes by itself.',
        ['Who waits:', '', '```', 'node dist/starter.js list --state PAUSED', '```'].join('\n'),
      ]),
    );
  }

  private noticeOf(type: PurchasingNotice['type'], kind: BrakeReason, more: Record<string, string>): PurchasingNotice {
    const { firstExecutionRunId, taskQueue } = workflowInfo();
    return {
      type,
      at: new Date().toISOString(),
      kind,
      reason: BRAKE_REASON_IN_WORDS[kind],
      details: { taskQueue, ...more },
      deduplicationKey: `${firstExecutionRunId}:${this.state.closures}`,
    };
  }
}

async function notify(notice: PurchasingNotice): Promise<void> {
  try {
    await notifyPurchasing.executeWithOptions({ summary: notice.type }, [notice]);
  } catch {
    log.error('the checkout could not be notified', { type: notice.type });
  }
}

setWorkflowOptions(lastingWorkflowOptions, brakeWorkflow);
