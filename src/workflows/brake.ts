import {
  condition,
  defineSignal,
  getExternalWorkflowHandle,
  log,
  makeContinueAsNewFunc,
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
import {
  BRAKE_REASON_IN_WORDS,
  type BrakeReason,
  effectOfLetThrough,
  nextRow,
  type PlacementSign,
  reasonToClose,
} from '../domain/brake';
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
  nextLetThroughPause,
  noticeOptions,
  wakeOptions,
} from './policies';
import { detailsOf, escapeMarkdown } from '../domain/markdown';
import { isBrakeReason, isPlacementSign, readBrakeState } from './brake-state';
import { instant } from './progress';
import { fieldsOf } from './value-guards';

const { readSettings } = proxyLocalActivities<Activities>(localOptions);
const { nextPaused } = proxyActivities<BrakeActivities>(brakeStepOptions);
const { notifyPurchasing } = proxyActivities<BrakeActivities>(noticeOptions);
const { wakePaused } = proxyActivities<BrakeActivities>(wakeOptions);

const reportPlacementsSignal = defineSignal<[ReportedPlacement[]]>(REPORT_PLACEMENTS_SIGNAL);
/** How many purchases that failed are remembered, so that those whose placement always fails do not stop the others. */
const MOST_TRIED = 200;
/** What a step takes beside its pause and the answer that it waits for, in ms: an activity of 2 min at the most. */
const MINUTES_OF_STEPS = 180_000;

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
    if (workflowInfo().historyLength > BRAKE_HISTORY) await goOnAsNew(brake.state);
  }
}

/** With the memo as it is now. A run without one gets that with which the run before it began, when it may have been closed. */
function goOnAsNew(state: BrakeState): Promise<never> {
  const memo = { brake: state.closed ?? null };
  return makeContinueAsNewFunc<typeof brakeWorkflow>({ memo })(state);
}

/** The state of the brake, and its steps. */
class Brake {
  readonly state: BrakeState;
  /** What the purchase that was let through has shown. */
  private answer: PlacementSign | undefined;
  /** How many in a row of those that were let through have shown nothing. */
  private nothings = 0;
  /** The last one that was let through was refused for its own sake, which costs a sale. */
  private isRefused = false;
  /** The purchases that waited are being woken. */
  private waking: Promise<unknown> | undefined;
  private isNotifying = false;

  constructor(before: BrakeState | undefined) {
    this.state = readBrakeState(before);
    if (this.state.closed) upsertMemo({ brake: this.state.closed });
    setHandler(reportPlacementsSignal, (placements) => this.note(placements));
    // What the run before has not ended, whose activities nobody waits for any more.
    if (this.state.waking) this.wakeAll();
    void this.notifyAll();
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
      this.close(settings, reason);
      return true;
    }
    setCurrentDetails(
      detailsOf([
        `**OPEN**: new orders are placed; ${row.length} placements in a row went wrong.`,
        '**Next:** the answers to the next placements. A good one ends this workflow, and it is started again when it is needed.',
      ]),
    );
    const { waking, isNotifying } = this;
    const isBusy = waking !== undefined || isNotifying;
    if (row.length === 0 && !isBusy) return false;
    const isHeard = await condition(
      () => this.state.row !== row || this.waking !== waking || this.isNotifying !== isNotifying,
      brakeQuiet(settings).open,
      { summary: 'then it ends, if nothing goes wrong' },
    );
    return isHeard || isBusy;
  }

  private close(settings: PurchaseSettings, reason: BrakeReason): void {
    this.state.closures += 1;
    this.state.failures = 0;
    this.state.tried = this.state.row.map(({ referenceId }) => referenceId);
    this.state.lastWaiting = undefined;
    this.nothings = 0;
    this.isRefused = false;
    this.show({ reason, since: Date.now(), until: Date.now() + brakeValidity(settings) });
    log.error('new placements wait', { reason });
    this.notify(this.noticeOf('purchasing.paused', reason, {}));
  }

  /** Waits, then lets one purchase through, and sees what comes of it. */
  private async stepClosed(settings: PurchaseSettings, before: ClosedBrake): Promise<boolean> {
    const { failures } = this.state;
    const { nothings, isRefused } = this;
    const closed = this.prolong(settings, before);
    const isProbed = closed.reason !== 'NO_BALANCE' && closed.reason !== 'REFUSED';
    const pause = nextLetThroughPause(settings, { failures, nothings, costsSales: isRefused || !isProbed });
    if (pause > 0) await sleep(pause, { summary: 'then it tries whether the partner takes orders' });
    const { why, referenceId } = await this.next(isProbed);
    if (why !== undefined) this.show(closed, why);
    if (why !== undefined || referenceId === undefined) return this.waitOn(settings, closed, why);

    this.state.lastWaiting = Date.now();
    const sign = await this.letThrough(settings, { ...closed, letThrough: referenceId }, referenceId);
    this.conclude(closed, referenceId, sign);
    return true;
  }

  /** What the purchase that was let through has shown. */
  private conclude(closed: ClosedBrake, referenceId: string, sign: PlacementSign | undefined): void {
    this.nothings = sign === 'NOTHING' ? this.nothings + 1 : 0;
    this.isRefused = sign === 'REFUSED';
    if (sign === 'REFUSED') this.state.row = nextRow(this.state.row, { referenceId, sign });
    switch (effectOfLetThrough(sign, this.state.row)) {
      case 'OPENS':
        return this.open(closed);
      case 'NONE':
        return this.show(withNobody(closed));
      case 'FAILS':
        this.state.failures += 1;
        return this.show(withNobody(closed, isBrakeReason(sign) ? sign : undefined));
    }
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
    this.nothings = 0;
    if (why !== undefined) this.state.lastWaiting = Date.now();
    const { lastWaiting = closed.since } = this.state;
    if (Date.now() - lastWaiting >= brakeQuiet(settings).closed) this.open(closed);
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
    const others = this.state.tried.filter((one) => one !== referenceId);
    this.state.tried = [...others, referenceId].slice(-MOST_TRIED);
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

  private open({ reason, since }: ClosedBrake): void {
    this.state.row = [];
    this.show(undefined);
    log.warn('new placements go on', { reason });
    this.wakeAll();
    this.notify(this.noticeOf('purchasing.resumed', reason, { since: new Date(since).toISOString() }));
  }

  /** Beside everything else, because it may be closed again long before all are woken; that ends it. */
  private wakeAll(): void {
    const summary = 'the purchases that wait, some each second';
    const waking = (this.waking ?? Promise.resolve())
      .then(() => wakePaused.executeWithOptions({ summary }, []))
      .catch(() => log.warn('not all that wait were woken: they ask by themselves'))
      .finally(() => {
        if (this.waking !== waking) return;
        this.waking = undefined;
        this.state.waking = undefined;
      });
    this.waking = waking;
    this.state.waking = true;
  }

  private notify(notice: PurchasingNotice): void {
    this.state.notices = [...this.state.notices, notice];
    void this.notifyAll();
  }

  /** Beside everything else, and in the order in which it happened: where all workers are busy, nobody waits for it. */
  private async notifyAll(): Promise<void> {
    if (this.isNotifying) return;
    for (let [notice] = this.state.notices; notice; [notice] = this.state.notices) {
      this.isNotifying = true;
      try {
        await notifyPurchasing.executeWithOptions({ summary: notice.type }, [notice]);
      } catch {
        log.error('the checkout could not be notified', { type: notice.type });
      }
      this.state.notices = this.state.notices.slice(1);
    }
    this.isNotifying = false;
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
        reason === 'REFUSED' && '**You** read why in the results of the purchases that ended as REJECTED.',
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

function withNobody({ reason, since, until }: ClosedBrake, latest: BrakeReason = reason): ClosedBrake {
  return { reason: latest, since, until };
}

setWorkflowOptions(lastingWorkflowOptions, brakeWorkflow);
