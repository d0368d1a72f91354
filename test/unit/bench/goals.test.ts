import { GOALS, outcomes } from '../../../bench/goals';
import type { Figures, ScenarioResult } from '../../../bench/results';
import { SCENARIOS } from '../../../bench/scenarios';

const machine = { cpu: '', cores: 2, memoryGb: 8, platform: '', loadBefore: 0, node: '', server: '', sdk: '' };

/** Whether the goal for this figure of the scenario `waiting` is met; undefined: it is not measured on both sides. */
function isMet(figure: string, baseline: Figures, ours: Figures): boolean | undefined {
  const scenario = { scenario: 'waiting', title: '', measuredAt: '', machine, rounds: 3, settings: {} };
  const result: ScenarioResult = { ...scenario, figures: { baseline, ours } };
  return outcomes(new Map([['waiting', result]])).find(({ goal }) => goal.figure === figure)?.isMet;
}

describe('the goals of the benchmarks', () => {
  it.each<[string, string, baseline: number[], ours: number[], boolean]>([
    // The machine may have been slow in one of them.
    ['compare each round with the one beside it', 'purchasesPerSecond', [2, 8, 8], [4, 16, 1], true],
    ['compare each round, where less is better', 'serverCpu', [100, 50, 50], [60, 25, 25], true],
    ['are missed by a little less', 'serverCpu', [100], [50.1], false],
    ['are missed by a little too slow', 'purchasesPerSecond', [10], [19.9], false],
    ['take one poll interval in place of a third', 'deliveredP95', [3], [3], true],
    ['are not met by more than either', 'deliveredP95', [6], [3.1], false],
  ])('%s', (_, figure, baseline, ours, expected) => {
    expect(isMet(figure, { [figure]: baseline }, { [figure]: ours })).toBe(expected);
  });

  it('leave out what only one side has measured', () => {
    const ours = { serverCpu: [1], historyEvents: [26] };
    expect([isMet('serverCpu', {}, ours), isMet('historyEvents', {}, ours)]).toEqual([undefined, true]);
  });

  it('name scenarios and sides that are measured', () => {
    const isMeasured = ({ scenario, side, to = side }: (typeof GOALS)[number]) =>
      SCENARIOS.some(({ name, sides }) => name === scenario && sides.includes(side) && sides.includes(to));
    expect(GOALS.filter((goal) => !isMeasured(goal))).toEqual([]);
  });
});
