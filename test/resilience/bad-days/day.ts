import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { DELIVER_WORKFLOW, deliverWorkflowId, PURCHASE_WORKFLOW } from '../../../src/contracts/names';
import { PURCHASE_STATE } from '../../../src/contracts/search-attributes';
import { minFindingAgeMs } from '../../../src/workflows/policies';
import type { JsonResponse, Plan, PlannedPurchase } from './plan';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { startSale } from '../support/load';
import { auditDay } from './audit-day';
import { type Chronicle, type DayParts, happen, pendingWork, reconcile, running } from './happenings';
import { type Moments, momentsOf } from './moments';
import { type DayServer, startDayServer } from './servers';
import { type Workers, workersOf } from './workers';

/** Once all faults are over, some workflow ends or changes its state more often than this, even on a slow machine. */
const STUCK_AFTER_MS = 5 * 60_000;
/** If something still changes after this, it changes for ever. */
const CHANGING_FOR_MS = 60 * 60_000;
/** The delay before a placement is tried again, plus the steps before it on a busy machine. */
const SECOND_REQUEST_MS = 6_000;
const AN_HOUR_AND_MORE = 70 * 60_000;

/**
 * Runs a day with real parts: purchases and their faults, an evening in which all of them end or are held while the
 * partner changes orders, and a quiet night with two reconciliations.
 *
 * @param address of a Temporal server, for plans that do not restart theirs
 * @returns the violations in words; each begins with its kind and a colon
 */
export async function liveDay(plan: Plan, address: string): Promise<string[]> {
  const ownServer = plan.events.some(({ what }) => what.type === 'restart server') ? await startDayServer() : undefined;
  const environment = await startTestEnvironment({
    worker: false,
    address: ownServer?.address ?? address,
    ownNamespace: true,
    pastOrders: plan.partner.pastOrders,
    sandbox: { balance: 1_000_000, ...plan.partner.settings },
    settings: plan.settings,
  });
  const workers = workersOf(environment, { PARTNER_MAX_RPS: plan.maxRps?.toString() });
  try {
    const violations = await live(plan, partsOf(plan, environment, workers, ownServer));
    await workers.stopAll();
    const all = [...violations, ...workers.violations];
    if (all.length > 0) writeFileSync(workersLog(plan), workers.output().join('\n'));
    return all;
  } finally {
    await workers.stopAll();
    await environment.close();
    await ownServer?.stop();
  }
}

/** The file with the output of the workers of a failed day. */
export function workersLog({ seed }: Plan): string {
  return join(tmpdir(), `bad-day-${seed}-workers.log`);
}

function partsOf(plan: Plan, environment: TestEnvironment, workers: Workers, server?: DayServer): DayParts {
  const chronicle: Chronicle = {
    reconciliations: [],
    replaced: new Set(),
    touched: new Set(),
    lastingFaults: [],
    violations: [],
  };
  const referenceOf = (name: string) => `${name}-${environment.taskQueue.slice(5, 13)}`;
  return {
    ...{ environment, workers, chronicle, referenceOf },
    references: plan.purchases.map(({ name }) => referenceOf(name)),
    restartServer: async (awayMs) => server?.restart(awayMs),
  };
}

async function live(plan: Plan, parts: DayParts): Promise<string[]> {
  const { environment, workers, chronicle } = parts;
  const moments = momentsOf(environment, parts.referenceOf);
  await Promise.all(Array.from({ length: plan.workers }, () => workers.start()));
  moments.begin();
  const started = startPurchases(plan.purchases, parts);
  const day = letHappen(plan, parts, moments, 'day');
  await started;
  await Promise.all([sleep(2_000), placementsHaveGoneWrong(plan, parts)]);
  moments.end();
  await day;

  heal(parts);
  if (!(await haveEnded(parts)))
    return ['waits for nothing: purchases that neither end nor are held', ...(await unsettled(parts))];
  moments.begin();
  await letHappen(plan, parts, moments, 'evening');
  const isNightOver = chronicle.violations.length === 0 && (await quietNight(plan, parts));
  // A reconciliation that does not end is the only violation worth reporting.
  if (!isNightOver) return chronicle.violations;
  return [...(await auditDay(plan, parts)), ...chronicle.violations];
}

async function letHappen(plan: Plan, parts: DayParts, moments: Moments, part: 'day' | 'evening'): Promise<void> {
  await Promise.all(
    plan.events.map(async (event) => {
      if (event.part === part && (await moments.come(event.at))) await happen(parts, event.what);
    }),
  );
}

async function startPurchases(purchases: readonly PlannedPurchase[], parts: DayParts): Promise<void> {
  const answers = new Map<string, JsonResponse[]>();
  parts.environment.receiver.respondWith(({ body }) => answers.get(body.data.referenceId)?.shift() ?? 204);
  const begunAt = Date.now();
  await Promise.all(
    purchases.map(async (purchase) => {
      const referenceId = parts.referenceOf(purchase.name);
      answers.set(referenceId, [...purchase.answers]);
      for (const fault of purchase.faults) parts.environment.sandbox.addFault({ ...fault, referenceId });
      await sleep(begunAt + purchase.atMs - Date.now());
      const isStarted = () => startSale(parts.environment, purchase.items, referenceId);
      await waitUntil(`${referenceId} is started`, isStarted, { everyMs: 500 });
    }),
  );
}

/**
 * The partner recovers and events are given up only after all faulty requests have been sent. An earlier search may be
 * slow, and a second request is sent only when the first one is confirmed.
 */
async function placementsHaveGoneWrong({ purchases, settings }: Plan, parts: DayParts): Promise<void> {
  const { environment, referenceOf } = parts;
  const areSent = async () =>
    purchases.every(({ name, faults }) => {
      const wrong = faults.filter(({ operation }) => operation === 'place').length;
      return environment.sandbox.placeRequestsOf(referenceOf(name)) >= Math.min(wrong, 2);
    });
  // A purchase that is held or cancelled sends no second request.
  const withinMs = 2 * settings.confirmWindowMs + SECOND_REQUEST_MS;
  await waitUntil('they are sent', areSent, { withinMs, everyMs: 100 }).catch(() => undefined);
}

/** From now on the partner has only lasting faults, and every order is old enough to have ended. */
function heal({ environment: { sandbox }, chronicle }: DayParts): void {
  sandbox.clearFaults();
  for (const fault of chronicle.lastingFaults) sandbox.addFault(fault);
  sandbox.settings({ historyLagMs: 0, historyShift: 0 });
  sandbox.advance(AN_HOUR_AND_MORE);
}

/**
 * The partner has recovered, so two reconciliations can find and deliver everything that is missing.
 *
 * @returns false if one of them does not end
 */
async function quietNight(plan: Plan, parts: DayParts): Promise<boolean> {
  const { environment } = parts;
  heal(parts);
  for (const _ of [1, 2]) {
    await haveEnded(parts);
    await deliveriesHaveEnded(plan, parts);
    // A reconciliation skips orders that are younger than the confirmation window.
    await sleep(Math.max(lastBookingAt(plan, environment) - Date.now(), 0) + minFindingAgeMs(plan.settings) + 500);
    if (!(await reconcile(parts))) return false;
  }
  await haveEnded(parts);
  await deliveriesHaveEnded(plan, parts);
  return true;
}

/** The time of the last order that the partner books after its response. */
function lastBookingAt({ purchases }: Plan, { sandbox }: TestEnvironment): number {
  const faults = purchases.flatMap((purchase) => purchase.faults);
  const longest = Math.max(0, ...faults.map(({ commit }) => (commit?.type === 'late' ? (commit.ms ?? 0) : 0)));
  const placed = sandbox.log().findLast(({ operation }) => operation === 'place');
  return placed === undefined ? 0 : Date.parse(placed.at) + longest;
}

async function deliveriesHaveEnded(plan: Plan, parts: DayParts): Promise<void> {
  const { environment, chronicle } = parts;
  const { client } = environment;
  const query = deliveriesThatEnd(plan, parts);
  if (await untilNone(() => listed(client, query))) return;
  const pending = await pendingWork(client, query);
  chronicle.violations.push(...pending.map((one) => `waits for nothing: ${one}`));
}

/** The running ones. A delivery of an order with a lasting fault is left out, because it is retried for 25 hours. */
function deliveriesThatEnd({ events }: Plan, { referenceOf }: DayParts): string {
  const ofBroken = events.flatMap(({ what }) =>
    what.type === 'order breaks' ? [deliverWorkflowId(referenceOf(what.of))] : [],
  );
  return [running(DELIVER_WORKFLOW), ...ofBroken.map((id) => `WorkflowId != '${id}'`)].join(' AND ');
}

/** @returns false if purchases neither end nor are held, and none of them changes any more */
function haveEnded(parts: DayParts): Promise<boolean> {
  const { client } = parts.environment;
  return untilNone(async () => {
    // A list takes one query, but lags a little.
    const inTheList = (await listed(client, running(PURCHASE_WORKFLOW))).filter((one) => !one.endsWith(' HELD'));
    return inTheList.length > 0 ? inTheList : unsettled(parts);
  });
}

/** The ids and states of the workflows of a list. */
async function listed(client: Client, query: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { workflowId, typedSearchAttributes } of client.workflow.list({ query }))
    found.push(`${workflowId} ${typedSearchAttributes.get(PURCHASE_STATE)}`);
  return found;
}

/** @returns false if something is left, and does not change for a long time */
async function untilNone(left: () => Promise<string[]>): Promise<boolean> {
  let [before, changedAt] = ['', Date.now()];
  const end = async () => {
    const now = (await left()).toSorted().join('\n');
    if (now === '') return 'none';
    if (now !== before) [before, changedAt] = [now, Date.now()];
    return Date.now() > changedAt + STUCK_AFTER_MS && 'stuck';
  };
  return (await waitUntil('nothing is left', end, { withinMs: CHANGING_FOR_MS, everyMs: 400 })) === 'none';
}

async function unsettled({ environment, references }: DayParts): Promise<string[]> {
  const all = await Promise.all(references.map((referenceId) => environment.starter.status(referenceId)));
  return all
    .filter(({ workflowStatus, state }) => workflowStatus === 'RUNNING' && state !== 'HELD')
    .map(
      ({ referenceId, state, pendingActivities }) =>
        `waits for nothing: ${referenceId} is ${state}, ${JSON.stringify(pendingActivities)}`,
    );
}
