import type { FigureName } from './figures';
import type { ScenarioResult } from './results';
import type { SideName } from './sides';
import { median } from './statistics';

/** A goal for a figure: for its ratio between two sides, or for the number itself. */
export interface Goal {
  scenario: string;
  figure: FigureName;
  /** Its name in the table. */
  label: string;
  side: SideName;
  /** The side to compare with; undefined if the goal is for the number itself. */
  to?: SideName;
  atLeast?: number;
  atMost?: number;
  /** This number, in the figure's own unit, also meets the goal. */
  orAtMost?: number;
}

/** A goal and the measured values. */
export interface Outcome {
  goal: Goal;
  compared?: number;
  measured: number;
  /** The median over the rounds. */
  ratio?: number;
  isMet: boolean;
}

const WAITING_INTERVAL_S = 3;

export const GOALS: readonly Goal[] = [
  ratio('complete-at-once', 'purchasesPerSecond', 'complete at once: purchases/s', { atLeast: 1.35 }),
  ratio('complete-at-once', 'serverCpu', 'complete at once: server CPU', { atMost: 0.68 }),
  ratio('complete-at-once', 'workerCpu', 'complete at once: worker CPU', { atMost: 1.1 }),
  ratio('waiting', 'purchasesPerSecond', 'waiting: purchases/s', { atLeast: 2 }),
  ratio('waiting', 'serverCpu', 'waiting: server CPU', { atMost: 0.5 }),
  ratio('waiting', 'deliveredP95', 'waiting: fulfilled to delivered, p95', {
    atMost: 1 / 3,
    orAtMost: WAITING_INTERVAL_S,
  }),
  ratio('defaults', 'purchasesPerSecond', 'at the defaults: purchases/s', { atLeast: 1.5 }),
  ratio('defaults', 'serverCpu', 'at the defaults: server CPU', { atMost: 0.67 }),
  number('complete-at-once', 'historyEvents', 'complete at once: history events', 20),
  number('waiting', 'historyEvents', 'waiting: history events', 26),
  ratio('open-orders', 'workerSettledMb', 'orders held open: worker memory', { atMost: 0.7 }),
  watching('requestsPerPoll', 'watching the history: partner requests', 1 / 15),
  number('open-orders', 'intervalsLate', 'watching the history: changed to delivered, intervals', 2, 'history'),
  ratio('cold-start', 'readySeconds', 'worker ready from a cold start', { atMost: 0.5 }),
  number('reconciliation', 'requestsPerPage', 'reconciliation: history requests per page', 1.05),
  number('reconciliation', 'memoryAboveIdleMb', 'reconciliation: memory above an idle worker, MB', 150),
  number('recovery', 'doubles', 'SIGKILL: orders bought twice', 0),
  number('recovery', 'lost', 'SIGKILL: orders paid for and not delivered', 0),
];

/** The outcome of each goal whose scenario has been measured. */
export function outcomes(results: ReadonlyMap<string, ScenarioResult>): Outcome[] {
  return GOALS.flatMap((goal) => {
    const figures = results.get(goal.scenario)?.figures;
    const values = figures?.[goal.side]?.[goal.figure];
    const others = goal.to && figures?.[goal.to]?.[goal.figure];
    if (!values || (goal.to && !others)) return [];
    return [outcomeOf(goal, values, others || undefined)];
  });
}

function outcomeOf(goal: Goal, values: readonly number[], others?: readonly number[]): Outcome {
  const measured = median(values);
  const ratio = others && ratioOf(values, others);
  const { atLeast = -Infinity, atMost = Infinity, orAtMost = -Infinity } = goal;
  const value = ratio ?? measured;
  const isMet = (value >= atLeast && value <= atMost) || measured <= orAtMost;
  return { goal, measured, ratio, compared: others && median(others), isMet };
}

/** A slow machine slows both sides of a round, so their ratio is more reliable than either figure. */
export function ratioOf(values: readonly number[], others: readonly number[]): number {
  return median(values.map((value, round) => value / (others[round] ?? NaN)));
}

type Bounds = Pick<Goal, 'atLeast' | 'atMost' | 'orAtMost'>;

function ratio(scenario: string, figure: FigureName, label: string, bounds: Bounds): Goal {
  const { atLeast, atMost, orAtMost } = bounds;
  return { scenario, figure, label, side: 'ours', to: 'baseline', atLeast, atMost, orAtMost };
}

function number(scenario: string, figure: FigureName, label: string, atMost: number, side: SideName = 'ours'): Goal {
  return { scenario, figure, label, side, atMost };
}

function watching(figure: FigureName, label: string, atMost: number): Goal {
  return { scenario: 'open-orders', figure, label, side: 'history', to: 'ours', atMost };
}
