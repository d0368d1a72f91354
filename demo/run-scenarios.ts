import { setTimeout } from 'node:timers/promises';
import { purchaseWorkflowId } from '../src/contracts/names';
import type { PurchaseResult } from '../src/contracts/purchase';
import type { PurchaseStatus } from '../src/starter/status';
import type { DemoEnvironment } from './environment';
import { NOT_STARTED, type Progress, type Row } from './progress';
import { type Scenario, SCENARIOS, scenarioWith } from './scenarios';

const REFRESH_MS = 500;
/** A purchase in one of these states may be held if the worker is killed, and the demo would wait for it forever. */
const NOT_PLACED_YET: readonly string[] = [NOT_STARTED, 'STARTED', 'PLACING', 'UNCONFIRMED'];

/**
 * Runs every scenario to its end.
 *
 * @returns the result of each purchase, by reference.
 */
export async function runScenarios(
  environment: DemoEnvironment,
  progress: Progress,
): Promise<Map<string, PurchaseResult>> {
  const rows = SCENARIOS.map((scenario): Row => ({ scenario, state: NOT_STARTED, note: '' }));
  progress.log('Each sale tests one scenario:\n\nSale     State                Scenario, and the reason for the state');
  const stop = new AbortController();
  void showProgress(environment, progress, rows, stop.signal);
  try {
    await start(environment, ({ fault }) => fault === undefined);
    await until(() => rows.every(({ scenario, state }) => scenario.fault || !NOT_PLACED_YET.includes(state)));
    await killWorker(environment, progress);
    await start(environment, ({ fault }) => fault !== undefined && fault !== 'kill-worker');
    await Promise.all([cancelPurchase(environment, rows), abandonPurchase(environment, progress, rows)]);
    const results = await Promise.all(SCENARIOS.map(({ referenceId }) => environment.starter.result(referenceId)));
    await until(() => rows.every(({ scenario, state }) => state === scenario.expected), 10_000);
    return new Map(results.map((result) => [result.referenceId, result]));
  } finally {
    stop.abort();
  }
}

async function start({ sandbox, starter }: DemoEnvironment, which: (scenario: Scenario) => boolean): Promise<void> {
  const scenarios = SCENARIOS.filter(which);
  for (const scenario of scenarios) addFault(sandbox, scenario);
  await Promise.all(scenarios.map(({ referenceId, items }) => starter.purchase({ referenceId, items })));
}

/** Makes the partner fail as the scenario requires. */
function addFault(sandbox: DemoEnvironment['sandbox'], { referenceId, fault }: Scenario): void {
  if (fault === 'kill-worker') {
    sandbox.addFault({ operation: 'place', referenceId, when: 'after', action: { type: 'hang' } });
  } else if (fault === 'history-down' || fault === 'cancel') {
    sandbox.addFault({ operation: 'orders', referenceId, times: 'always', action: { type: 'answer', status: 503 } });
  } else if (fault === 'no-response-then-abandon') {
    sandbox.addFault({ operation: 'place', referenceId, when: 'before', action: { type: 'close' } });
  }
}

/**
 * Kills the worker at the worst moment: the partner has taken the order and the money, but the worker does not know the
 * order id yet.
 */
async function killWorker(environment: DemoEnvironment, { log }: Progress): Promise<void> {
  const { referenceId } = scenarioWith('kill-worker');
  await start(environment, ({ fault }) => fault === 'kill-worker');
  await until(async () => (await environment.sandbox.ordersOf(referenceId)).length > 0);
  const { pid } = environment.worker;
  await environment.worker.stop('SIGKILL');
  log(`SIGKILL    killed worker ${pid} after the partner took the order for ${referenceId}`);
  log('           interrupted sales are UNCONFIRMED until the order history is searched');
  await environment.restartWorker();
  log(`worker     process ${environment.worker.pid} takes over and must not buy ${referenceId} again`);
}

async function cancelPurchase({ temporal }: DemoEnvironment, rows: readonly Row[]): Promise<void> {
  const { referenceId } = scenarioWith('cancel');
  await until(() => stateOf(rows, referenceId) !== NOT_STARTED);
  await temporal.client.workflow.getHandle(purchaseWorkflowId(referenceId)).cancel();
}

async function abandonPurchase({ starter }: DemoEnvironment, { log }: Progress, rows: readonly Row[]): Promise<void> {
  const { referenceId } = scenarioWith('no-response-then-abandon');
  await until(() => stateOf(rows, referenceId) === 'HELD');
  const { hold } = await starter.status(referenceId);
  log(`operator   abandons ${referenceId}, which is held (decisions: ${hold?.decisions.join(', ')})`);
  await starter.resolve(referenceId, { decision: 'abandon' });
}

function stateOf(rows: readonly Row[], referenceId: string): string | undefined {
  return rows.find(({ scenario }) => scenario.referenceId === referenceId)?.state;
}

/** Keeps the table up to date until it is stopped. */
async function showProgress(
  { starter }: DemoEnvironment,
  progress: Progress,
  rows: Row[],
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    await Promise.all(rows.map((row) => refresh(starter, row)));
    if (!stop.aborted) progress.update(rows);
    await setTimeout(REFRESH_MS);
  }
}

async function refresh(starter: DemoEnvironment['starter'], row: Row): Promise<void> {
  if (row.state === row.scenario.expected) return;
  try {
    const status = await starter.status(row.scenario.referenceId);
    row.state = status.state;
    row.note = noteOf(status);
  } catch {
    // The purchase has not started, or the server is busy. The next refresh shows it.
  }
}

/** The reason for the result, or the number of the poll. */
function noteOf(status: PurchaseStatus): string {
  if (status.result) return status.result.reason ?? '';
  const [work] = status.pendingActivities;
  return work && status.state === 'PENDING' ? `poll ${work.attempt}` : '';
}

async function until(holds: () => unknown, withinMs = 60_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadline)
      throw new Error(`the demo waited ${withinMs / 1_000} s for something that did not happen`);
    await setTimeout(50);
  }
}
