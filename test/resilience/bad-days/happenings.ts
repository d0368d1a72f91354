import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { RECONCILE_WORKFLOW } from '../../../src/contracts/names';
import type { ReconciliationResult } from '../../../src/contracts/reconciliation';
import type { Fault } from '../../../sandbox';
import type { HoldDecision } from '../../../src/contracts/purchase';
import { createStarter } from '../../../src/starter/index';
import { operatorOf } from '../../support/operator';
import type { TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';
import type { Happening, OperatorHappening, Resolving } from './plan';
import type { Workers } from './workers';

/** A reconciliation of one of these small histories takes seconds, and minutes on a slow machine. */
const RECONCILED_WITHIN_MS = 10 * 60_000;
/** How long an operator waits for a response. */
const RESPONSE_TIMEOUT_MS = 8_000;
/** Long enough for all orders of the day, and too short for those of earlier days. */
export const LOOKBACK_MS = 50 * 60_000;

/** What happened on a day and cannot be read from the partner, the checkout or Temporal at its end. */
export interface Chronicle {
  reconciliations: ReconciliationResult[];
  /** Purchases that an operator placed again, by name. */
  replaced: Set<string>;
  /** Purchases that an operator changed, by name. */
  touched: Set<string>;
  /** Faults that stay when all others are cleared. */
  lastingFaults: Fault[];
  violations: string[];
}

export interface DayParts {
  environment: TestEnvironment;
  workers: Workers;
  chronicle: Chronicle;
  referenceOf(name: string): string;
  /** The references of all purchases of the plan. */
  references: readonly string[];
  restartServer(awayMs: number): Promise<void>;
}

/** Runs one event of a plan. A refused command of an operator is no violation. */
export async function happen(parts: DayParts, what: Happening): Promise<void> {
  const { environment, workers } = parts;
  switch (what.type) {
    case 'kill':
      return workers.end(what.worker, 'SIGKILL', what.anotherAfterMs);
    case 'stop':
      return workers.end(what.worker, 'SIGTERM', what.anotherAfterMs);
    case 'freeze':
      return workers.freeze(what.worker, what.ms);
    case 'restart server':
      return parts.restartServer(what.awayMs);
    case 'partner fault':
      return void environment.sandbox.addFault(what.fault);
    case 'order grows':
      return changeOrder(parts, what.of, (keys) => ({ status: what.status, keys: [grown(keys, what.keys, what.of)] }));
    case 'order refunded':
      return changeOrder(parts, what.of, () => ({ status: 'REFUNDED' }));
    case 'order row breaks':
      return changeOrder(parts, what.of, () => ({ shownRow: what.row }));
    case 'order breaks':
      return breakOrder(parts, what.of, what.action);
    case 'reconcile':
      return void (await reconcile(parts, what.dryRun));
    default:
      return operate(parts, what).catch(() => undefined);
  }
}

/** Runs a reconciliation to its end. @returns false, and records a violation, if it does not end */
export async function reconcile({ environment, chronicle }: DayParts, dryRun?: boolean): Promise<boolean> {
  const reconciliation = environment.reconcile({ lookbackMs: LOOKBACK_MS, dryRun });
  const result = await Promise.race([
    reconciliation.catch((error: unknown) => `failed: ${String(error)}`),
    sleep(RECONCILED_WITHIN_MS, 'did not end', { ref: false }),
  ]);
  if (typeof result !== 'string') return chronicle.reconciliations.push(result) > 0;
  const pending = await pendingWork(environment.client, running(RECONCILE_WORKFLOW));
  chronicle.violations.push(`a reconciliation ${result}: ${pending.join('; ')}`);
  return false;
}

/** What the workflows of a list wait for, in words. */
export async function pendingWork(client: Client, query: string): Promise<string[]> {
  const pending: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query })) {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    const activities = (raw.pendingActivities ?? []).map(
      ({ activityType, attempt, lastFailure }) => `${activityType?.name}, attempt ${attempt}: ${lastFailure?.message}`,
    );
    pending.push(`${workflowId} waits for ${activities.join(', ') || 'a worker'}`);
  }
  return pending;
}

export function running(type: string): string {
  return `WorkflowType = '${type}' AND ExecutionStatus = 'Running'`;
}

async function changeOrder(
  { environment: { sandbox }, referenceOf }: DayParts,
  name: string,
  change: (keys: string[]) => Parameters<typeof sandbox.changeOrder>[1],
): Promise<void> {
  const [order] = await sandbox.ordersOf(referenceOf(name));
  if (!order) return;
  const [line] = order.items;
  await sandbox.changeOrder(order.id, change((line?.keys ?? []).map(({ value }) => value)));
}

async function breakOrder({ environment, chronicle, referenceOf }: DayParts, name: string, action: Fault['action']) {
  const [order] = await environment.sandbox.ordersOf(referenceOf(name));
  if (!order) return;
  const fault: Fault = { operation: 'keys', orderId: order.id, times: 'always', action };
  environment.sandbox.addFault(fault);
  chronicle.lastingFaults.push(fault);
}

/** The present keys plus new ones up to the count. None is removed, and no key is in two orders. */
function grown(keys: string[], count: number, name: string): string[] {
  const more = Array.from({ length: count }, (_, at) => `LATER-KEY-${name}-${at + 1}`);
  return [...keys, ...more.slice(keys.length)];
}

async function operate(parts: DayParts, what: OperatorHappening): Promise<void> {
  const { environment, chronicle, referenceOf } = parts;
  const referenceId = referenceOf(what.of);
  const operator = operatorOf(environment, referenceId);
  const starter = createStarter(environment.client, {
    taskQueue: environment.taskQueue,
    timeoutMs: RESPONSE_TIMEOUT_MS,
  });
  if (what.type !== 'redeliver') chronicle.touched.add(what.of);
  switch (what.type) {
    case 'reset': {
      const points = await operator.points();
      const point = points[Math.min(points.length - 1, Math.floor(what.share * points.length))];
      return void (point && (await operator.reset(point)));
    }
    case 'pause activity':
      await operator.pause(what.activity);
      await sleep(what.ms);
      return operator.unpause(what.activity);
    case 'reset activity':
      return operator.resetActivity(what.activity);
    case 'cancel':
      return operator.cancel();
    case 'terminate':
      return operator.terminate();
    case 'redeliver':
      return void (await starter.redeliver(referenceId));
    case 'resolve': {
      const isHeld = async () => (await starter.status(referenceId)).hold !== undefined;
      await waitUntil('it is held', isHeld, { withinMs: what.withinMs, everyMs: 200 });
      const { hold } = await starter.status(referenceId);
      const choice = await choiceOf(parts, referenceId, what.how, hold?.decisions ?? []);
      if (!choice) return;
      // Recorded before it is sent, because it may take effect even without a response.
      if (choice.decision === 'replace') chronicle.replaced.add(what.of);
      await starter.resolve(referenceId, choice);
      if (what.how !== 'an order that is not there') return;
      return void chronicle.violations.push(`an order id that the partner does not have was believed: ${what.of}`);
    }
  }
}

async function choiceOf(
  { environment: { sandbox }, references }: DayParts,
  referenceId: string,
  how: Resolving,
  possible: readonly string[],
): Promise<HoldDecision | undefined> {
  if (how === 'an order that is not there') return { decision: 'order', orderId: 'ord-mistyped' };
  if (how === 'the order of another') {
    const orders = await Promise.all(
      references.filter((other) => other !== referenceId).map((other) => sandbox.ordersOf(other)),
    );
    const [another] = orders.flat();
    return another && { decision: 'order', orderId: another.id };
  }
  if (how !== 'right') return { decision: how };
  const [own] = await sandbox.ordersOf(referenceId);
  if (possible.includes('deliver')) return { decision: 'deliver' };
  return own ? { decision: 'order', orderId: own.id } : { decision: 'abandon' };
}
