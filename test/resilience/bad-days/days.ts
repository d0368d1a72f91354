import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inParallel } from '../../../src/activities/in-parallel';
import { liveDay, workersLog } from './day';
import type { Plan } from './plan';
import type { WithServer } from './servers';
import { shrink, type ShrinkLimits } from './shrink';

export interface FailedDay {
  plan: Plan;
  violations: string[];
}

/** Runs the day of a plan. An environment that breaks is a violation too. */
async function dayOf(plan: Plan, withServer: WithServer): Promise<FailedDay | undefined> {
  const violations = await withServer((address) => liveDay(plan, address)).catch((error: unknown) => [
    `the day broke: ${String(error)}`,
  ]);
  return violations.length > 0 ? { plan, violations } : undefined;
}

interface DaysOptions {
  withServer: WithServer;
  atOnce: number;
  /** No other day is started after the first failure. */
  untilFailure?: boolean;
  onDay?: (failed: FailedDay | undefined, done: number) => void;
}

/** Runs the days of plans, this many at a time. @returns the failed ones by their seeds */
export async function liveDays(plans: readonly Plan[], options: DaysOptions): Promise<FailedDay[]> {
  const { withServer, atOnce, untilFailure = false, onDay } = options;
  const failures: FailedDay[] = [];
  let done = 0;
  await inParallel(plans, atOnce, async (plan) => {
    if (untilFailure && failures.length > 0) return;
    const failed = await dayOf(plan, withServer);
    if (failed) failures.push(failed);
    onDay?.(failed, ++done);
  });
  return failures.toSorted((one, other) => one.plan.seed - other.plan.seed);
}

/** Shrinks the plan of a failed day. A day that fails in another way does not count. */
export function shrinkDay(
  { plan, violations }: FailedDay,
  withServer: WithServer,
  limits: ShrinkLimits,
): Promise<Plan> {
  const kinds = new Set(violations.map(kindOf));
  const failsAlike = async (smaller: Plan) => {
    const failed = await dayOf(smaller, withServer);
    return failed?.violations.some((violation) => kinds.has(kindOf(violation))) ?? false;
  };
  return shrink(plan, failsAlike, limits);
}

/** The report of a failed day: what was wrong, and how to repeat it. */
export function report({ plan, violations }: FailedDay): string {
  return [
    `Seed ${plan.seed} failed. To see it again and shrink it: npm run test:faults -- --seed ${plan.seed}`,
    ...violations.map((violation) => `  ${violation}`),
    ...(existsSync(workersLog(plan)) ? [`  what its workers wrote: ${workersLog(plan)}`] : []),
  ].join('\n');
}

/** The report of a shrunk plan, which is written to a file so that its day can be repeated. */
export function reportShrunk(plan: Plan): string {
  const path = join(tmpdir(), `bad-day-${plan.seed}.json`);
  writeFileSync(path, JSON.stringify(plan, undefined, 2));
  const size = `${plan.purchases.length} purchases, ${plan.events.length} events`;
  const lines = Object.values(plan)
    .flat()
    .map((part) => JSON.stringify(part));
  return [`Shrunk to ${size}; to repeat this day: npm run test:faults -- --plan ${path}`, ...lines].join('\n  ');
}

function kindOf(violation: string): string {
  return violation.split(':')[0] ?? '';
}
