import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { DELIVER_WORKFLOW, PURCHASE_WORKFLOW, purchaseWorkflowId } from '../../../src/contracts/names';
import { DECISIONS } from '../../../src/domain/holds';
import { isKeylessEvent } from '../../../src/domain/purchase-state';
import type { ReportedFinding } from '../../../src/starter/index';
import { minFindingAgeMs } from '../../../src/workflows/policies';
import { keptKeys } from '../../support/audit';
import { eventsOf, intentionsOfTimedOut } from '../../support/history';
import { log } from '../../support/log';
import { operatorOf } from '../../support/operator';
import { starterEnvOf, starterProcess } from '../../support/processes';
import { startTestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import { type Draw, drawOf } from '../bad-days/draw';
import { pendingWork, running } from '../bad-days/happenings';
import { workersOf } from '../bad-days/workers';
import { referencesOf } from '../support/kill';
import { startLoad } from '../support/load';
import { startChaosPartner } from '../support/chaos-partner';

const SEED = Number(process.env.CHAOS_SEED ?? Date.now() % 100_000);
const SALES = 300;
const SALE_EVERY_MS = 300;
const SETTINGS = {
  ...{ partnerTimeoutMs: 2_000, deliveryTimeoutMs: 2_000, firstPollMs: 500, pollIntervalMs: 1_500 },
  ...{ placeWithinMs: 40_000, deadlineMs: 20_000, confirmWindowMs: 3_000 },
};
/** How often an operator uses each command. */
const COMMANDS = {
  ...{ status: 3, list: 1, cancel: 6, redeliver: 8, purchase: 4, reconcile: 1, resolve: 12 },
  ...{ pause: 5, 'reset activity': 5, 'reset purchase': 2, terminate: 1 },
};
/** The checkout's responses to one event in five. */
const BAD_RESPONSES = [500, 500, 'slow', 'slow', 'hang', 'reset', 'take-and-reset', 410] as const;

type Chaos = Awaited<ReturnType<typeof startChaos>>;

it(`chaos: none of ${SALES} purchases is bought twice, lost, stuck or held unnecessarily, whatever the partner, checkout and operators do`, async () => {
  const chaos = await startChaos();
  const { env, partner, workers, load, notes } = chaos;
  const sold = waitUntil('all are sold', () => load.count() >= SALES).then(load.stop);
  const [sales] = await Promise.all([sold, disturb(chaos), operate(chaos)]);
  const references = referencesOf(sales);
  partner.heal();
  env.receiver.respondWith(() => 204);
  const violations = [...(await settle(chaos)), ...(await heldInVain(chaos))];
  const [, findings] = [await reconcile(chaos), await reconcile(chaos)];
  for (const referenceId of references) violations.push(...(await auditPurchase(chaos, referenceId, findings)));
  violations.push(...(await settle(chaos)), ...(await heldInVain(chaos)));
  await workers.stopAll();
  const written = `${tmpdir()}/chaos-${SEED}.log`;
  writeFileSync(written, [...violations, ...notes, ...workers.output()].join('\n'));
  log(`${references.length} purchases, ${notes.length} commands; what all did and wrote: ${written}`);
  expect([...violations, ...workers.violations]).toEqual([]);
  expect(env.receiver.refused).toBe(0);
}, 3_600_000);

async function startChaos() {
  const replace = drawOf(SEED).pick(['answered', 'answered', 'always'] as const);
  const watch = drawOf(-SEED).pick(['orders', 'history'] as const);
  const settings = { ...SETTINGS, replace, watch };
  log(`to repeat it: CHAOS_SEED=${SEED} npm run test:faults -- -t chaos (watch: ${watch}, replace: ${replace})`);
  const env = await startTestEnvironment({ worker: false, ownNamespace: true, settings });
  const partner = await startChaosPartner(SEED);
  const workers = workersOf({ ...env, sandbox: partner }, {});
  await Promise.all([workers.start(), workers.start()]);
  const answers = drawOf(SEED + 0.5);
  /** References with an event that the checkout has refused for good. */
  const refused = new Set<string>();
  env.receiver.respondWith(({ body }) => {
    const answer = answers.chance(0.2) ? answers.pick(BAD_RESPONSES) : 204;
    if (answer === 410) refused.add(body.data.referenceId);
    return answer === 'slow' ? sleep(1_300, 204) : answer;
  });
  /** References that an operator used this command on, once per use. */
  const done = { replace: [] as string[], reset: [] as string[], terminate: [] as string[] };
  const load = startLoad(env, SALE_EVERY_MS, ['game', 'film']);
  return { env, partner, workers, refused, done, load, notes: [] as string[] };
}

async function disturb({ load, workers }: Chaos): Promise<void> {
  const draw = drawOf(SEED + 0.25);
  while (load.count() < SALES) {
    await sleep(draw.from(2_000, 7_000));
    const how = draw.weighted({ SIGKILL: 4, SIGTERM: 4, freeze: 2 });
    const [worker, ms] = [draw.from(0, 1), draw.from(0, 4_000)];
    await (how === 'freeze' ? workers.freeze(worker, 3 * ms) : workers.end(worker, how, ms));
  }
}

/** Runs commands on started purchases. A refused command is no error. */
async function operate(chaos: Chaos): Promise<void> {
  const { env, load, notes } = chaos;
  const given: Promise<void>[] = [];
  for (let number = 1; load.count() < SALES; number++) {
    const draw = drawOf(SEED + number / 1_000);
    await sleep(draw.from(100, 300));
    const name = draw.weighted(COMMANDS);
    const last = Math.max(1, load.count() - 5);
    const referenceId = `T-${env.taskQueue.slice(5, 13)}-${draw.from(Math.max(1, last - 35), last)}`;
    const note = (what: unknown) => void notes.push(`${name} ${referenceId}: ${String(what).slice(0, 200)}`);
    given.push(command(chaos, name, referenceId, draw).then((answer) => note(answer ?? 'done'), note));
  }
  await Promise.all(given);
}

/** Runs a command through the library, or on the command line. */
async function command(chaos: Chaos, name: keyof typeof COMMANDS, referenceId: string, draw: Draw): Promise<unknown> {
  const { env, done } = chaos;
  const operator = operatorOf(env, referenceId);
  const type = async (...words: string[]) => JSON.stringify(await starterProcess(words, starterEnvOf(env)));
  switch (name) {
    case 'status':
    case 'cancel':
    case 'redeliver':
      return draw.chance(0.2) ? type(name, referenceId) : env.starter[name](referenceId).then(JSON.stringify);
    case 'list':
    case 'reconcile':
      return type(name);
    case 'purchase':
      return env.buy({ game: draw.from(1, 2) }, referenceId);
    case 'resolve':
      return resolve(chaos, draw);
    case 'terminate':
      done.terminate.push(referenceId);
      return operator.terminate();
    case 'reset purchase':
      done.reset.push(referenceId);
      return operator.reset(draw.pick(await operator.points()));
    default: {
      const [pending] = (await env.starter.status(referenceId)).pendingActivities;
      if (!pending) return 'nothing is pending';
      if (pending.activity === 'placeOrder') done.reset.push(referenceId);
      if (name === 'reset activity') return operator.resetActivity(pending.activity);
      await operator.pause(pending.activity);
      await sleep(draw.from(200, 3_000));
      return operator.unpause(pending.activity);
    }
  }
}

/** Decides on a held purchase; half of the decisions are blind. */
async function resolve({ env, partner, done }: Chaos, draw: Draw): Promise<unknown> {
  const { purchases } = await env.starter.list({ state: 'HELD' });
  if (purchases.length === 0) return 'none is held';
  const { referenceId, hold } = draw.pick(purchases);
  const decision = draw.pick(draw.chance(0.5) ? (hold?.decisions ?? DECISIONS) : DECISIONS);
  const [order] = partner.ordersOf(draw.chance(0.5) ? referenceId : draw.pick(purchases).referenceId);
  if (decision === 'replace') done.replace.push(referenceId);
  const choice = decision === 'order' ? { decision, orderId: order?.id ?? 'ord-1' } : { decision };
  return env.starter.resolve(referenceId, choice).then(JSON.stringify);
}

/** Waits until all have ended or are held. @returns those that have not */
async function settle({ env: { client } }: Chaos): Promise<string[]> {
  const unheld = `${running(PURCHASE_WORKFLOW)} AND (PurchaseState IS NULL OR PurchaseState != 'HELD')`;
  const query = `(${unheld}) OR (${running(DELIVER_WORKFLOW)})`;
  const isSettled = async () => (await client.workflow.count(query)).count === 0;
  await waitUntil('all have settled', isSettled).catch(() => undefined);
  return (await pendingWork(client, query)).map((what) => `stuck: ${what}`);
}

/** @returns its findings about purchases at rest */
async function reconcile(chaos: Chaos): Promise<ReportedFinding[]> {
  await sleep(minFindingAgeMs(chaos.env.settings) + 500);
  const { details } = await chaos.env.reconcile();
  await settle(chaos);
  return details;
}

async function auditPurchase(chaos: Chaos, referenceId: string, findings: ReportedFinding[]): Promise<string[]> {
  const { env, partner, done } = chaos;
  const orders = partner.ordersOf(referenceId);
  const { state, workflowStatus, hold, result } = await env.starter.status(referenceId);
  const received = keptKeys(env.receiver.eventsOf(referenceId));
  const billable = orders.filter(({ status }) => status !== 'FAILED' && status !== 'REFUNDED');
  const isMissing = billable.some(({ keys }) => keys.some((key) => !received.includes(key)));
  const isReported = findings.some(
    (finding) => finding.referenceId === referenceId || orders.some(({ id }) => finding.orderIds.includes(id)),
  );
  const timesReplaced = done.replace.filter((one) => one === referenceId).length;
  const isPlain = orders.length === 1 && !chaos.refused.has(referenceId);
  const wrong = {
    doubled: orders.length > 1 + timesReplaced || (billable.length > 1 && !isReported),
    'a key twice': new Set(received).size < received.length,
    'keys of another': received.some((key) => !orders.some(({ id }) => key.startsWith(`KEY/${id}/`))),
    'told that nothing was bought': billable.length > 0 && /REJECTED|NOT_PLACED|CANCELLED/.test(state),
    lost: isMissing && !hold && !isReported,
    'could be delivered': isMissing && isPlain && /DELIVERED|OVERDUE/.test(state),
    stuck: workflowStatus === 'RUNNING' && !hold,
    failed: !/RUNNING|COMPLETED/.test(workflowStatus) && !done.terminate.includes(referenceId),
  };
  const seen = JSON.stringify({ state, hold, result, received, orders, fate: partner.fateOf(referenceId) });
  return Object.entries(wrong).flatMap(([name, is]) => (is ? `${name}: ${referenceId}: ${seen}` : []));
}

/** A purchase is held only when no program can know what to do. */
async function heldInVain({ env, partner, refused, done }: Chaos): Promise<string[]> {
  const { purchases } = await env.starter.list({ state: 'HELD', limit: SALES });
  const inVain: string[] = [];
  for (const { referenceId, hold, explanation } of purchases) {
    const { life, requests } = partner.fateOf(referenceId);
    const isAbsent = partner.ordersOf(referenceId).length === 0;
    const intentions = intentionsOfTimedOut(await eventsOf(env, purchaseWorkflowId(referenceId)));
    const mayBeSent = requests > 0 || intentions.includes(true) || done.reset.includes(referenceId);
    const hasSeenKeylessEvent = env.receiver.attemptsOf(referenceId).some(({ body }) => isKeylessEvent(body.type));
    const mayBeHeld: Partial<Record<string, boolean>> = {
      MORE_KEYS_THAN_ORDERED: life[0]?.endsWith('+1'),
      DELIVERY_REFUSED: refused.has(referenceId),
      PLACEMENT_UNKNOWN: isAbsent && mayBeSent,
      // The run before a reset told the checkout that there are no keys.
      ORDER_CHANGES: done.reset.includes(referenceId) && hasSeenKeylessEvent,
    };
    if (hold && !mayBeHeld[hold.reason]) inVain.push(`held in vain: ${referenceId}: ${hold.reason}: ${explanation}`);
  }
  return inVain;
}
