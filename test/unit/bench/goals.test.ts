import { GOALS, outcomes } from '../../../bench/goals';
import type { Figures, ScenarioResult } from '../../../bench/results';
import { SCENARIOS } from '../../../bench/scenarios';
import { percentile } from '../../../bench/statistics';
import { usageOf } from '../../../bench/usage';

const machine = { cpu: '', cores: 2, memoryGb: 8, platform: '', loadBefore: 0, node: '', server: '', sdk: '' };

/** What the goals say of the scenario `waiting`, each by its figure. */
function met(baseline: Figures, ours: Figures): Record<string, boolean> {
  const scenario = { scenario: 'waiting', title: '', measuredAt: '', machine, rounds: 3, settings: {} };
  const result: ScenarioResult = { ...scenario, figures: { baseline, ours } };
  const all = outcomes(new Map([['waiting', result]]));
  return Object.fromEntries(all.map(({ goal, isMet }) => [goal.figure, isMet]));
}

describe('the goals of the benchmarks', () => {
  const slowInTurns = { purchasesPerSecond: [2, 8, 8], serverCpu: [100, 50, 50] };
  const fasterInTurns = { purchasesPerSecond: [4, 16, 1], serverCpu: [60, 25, 25] };
  it.each<[string, Figures, Figures, Record<string, boolean>]>([
    // The machine may have been slow in one of them.
    [
      'compare each round with the one beside it',
      slowInTurns,
      fasterInTurns,
      { purchasesPerSecond: true, serverCpu: true },
    ],
    ['are missed by a little less', { serverCpu: [100] }, { serverCpu: [50.1] }, { serverCpu: false }],
    [
      'are missed by a little too slow',
      { purchasesPerSecond: [10] },
      { purchasesPerSecond: [19.9] },
      { purchasesPerSecond: false },
    ],
    [
      'take one poll interval in place of a third',
      { deliveredP95: [3] },
      { deliveredP95: [3] },
      { deliveredP95: true },
    ],
    ['are not met by more than either', { deliveredP95: [6] }, { deliveredP95: [3.1] }, { deliveredP95: false }],
    ['leave out what only one side has measured', {}, { serverCpu: [1], historyEvents: [26] }, { historyEvents: true }],
  ])('%s', (_, baseline, ours, expected) => {
    expect(met(baseline, ours)).toEqual(expected);
  });

  it('name scenarios and sides that are measured', () => {
    const isMeasured = ({ scenario, side, to = side }: (typeof GOALS)[number]) =>
      SCENARIOS.some(({ name, sides }) => name === scenario && sides.includes(side) && sides.includes(to));
    expect(GOALS.filter((goal) => !isMeasured(goal))).toEqual([]);
  });
});

it('percentiles are values that were measured, the least that so many do not exceed', () => {
  const values = [5, 1, 4, 2, 3];
  expect([0.5, 0.8, 0.95, 1].map((share) => percentile(values, share))).toEqual([3, 4, 5, 5]);
  expect(percentile([], 0.5)).toBeNaN();
});

it("a process's CPU seconds are those that Node itself counts", () => {
  const own = () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
  const before = own();
  const { cpuSeconds, memoryMb } = usageOf(process.pid);
  expect(cpuSeconds).toBeGreaterThan(before - 0.1);
  expect(cpuSeconds).toBeLessThan(own() + 0.1);
  expect(memoryMb).toBeGreaterThan(10);
});
