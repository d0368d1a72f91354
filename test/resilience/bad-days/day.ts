import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** Longer than any of these purchases may take once all faults are over. */
const SETTLED_WITHIN_MS = 150_000;
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
  if (!(await haveEnded(plan, parts)))
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
    await haveEnded(plan, parts);
    await deliveriesHaveEnded(plan, parts);
    // A reconciliation skips orders that are younger than the confirmation window.
    await sleep(Math.max(lastBookingAt(plan, environment) - Date.now(), 0) + minFindingAgeMs(plan.settings) + 500);
    if (!(await reconcile(parts))) return false;
  }
  await haveEnded(plan, parts);
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
  const haveEnded = async () => (await client.workflow.count(query)).count === 0;
  const inTime = waitUntil('they have ended', haveEnded, { withinMs: SETTLED_WITHIN_MS, everyMs: 400 });
  await inTime.catch(async () => {
    const pending = await pendingWork(client, query);
    chronicle.violations.push(...pending.map((one) => `waits for nothing: ${one}`));
  });
}

/** The running ones. A delivery of an order with a lasting fault is left out, because it is retried for 25 hours. */
function deliveriesThatEnd({ events }: Plan, { referenceOf }: DayParts): string {
  const ofBroken = events.flatMap(({ what }) =>
    what.type === 'order breaks' ? [deliverWorkflowId(referenceOf(what.of))] : [],
  );
  return [running(DELIVER_WORKFLOW), ...ofBroken.map((id) => `WorkflowId != '${id}'`)].join(' AND ');
}

/** @returns false if a purchase neither ends nor is held in time */
async function haveEnded({ partner, maxRps }: Plan, parts: DayParts): Promise<boolean> {
  // If the partner ignores searches, each purchase reads all pages and waits for a permit for each.
  const isSlow = partner.settings.search === 'ignored' && maxRps !== undefined;
  const withinMs = isSlow ? 3 * SETTLED_WITHIN_MS : SETTLED_WITHIN_MS;
  const isSettled = async () => !(await areListed(parts)) && (await unsettled(parts)).length === 0;
  return waitUntil('all have settled', isSettled, { withinMs, everyMs: 400 }).then(
    () => true,
    () => false,
  );
}

/** One query for all purchases. Lists lag a little. */
async function areListed({ environment: { client } }: DayParts): Promise<boolean> {
  for await (const { typedSearchAttributes } of client.workflow.list({ query: running(PURCHASE_WORKFLOW) })) {
    if (typedSearchAttributes.get(PURCHASE_STATE) !== 'HELD') return true;
  }
  return false;
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
