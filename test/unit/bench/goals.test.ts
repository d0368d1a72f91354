import { GOALS, outcomes } from '../../../bench/goals';
import type { Figures, ScenarioResult } from '../../../bench/results';
import { SCENARIOS } from '../../../bench/scenarios';

const machine = { cpu: '', cores: 2, memoryGb: 8, platform: '', loadBefore: 0, node: '', server: '', sdk: '' };

/** Whether the goal for this figure of the scenario `waiting` is met; undefined if one side has not measured it. */
function isMet(figure: string, baseline: Figures, ours: Figures): boolean | undefined {
  const scenario = { scenario: 'waiting', title: '', measuredAt: '', machine, rounds: 3, settings: {} };
  const result: ScenarioResult = { ...scenario, figures: { baseline, ours } };
  return outcomes(new Map([['waiting', result]])).find(({ goal }) => goal.figure === figure)?.isMet;
}

describe('the goals of the benchmarks', () => {
  it.each<[string, string, baseline: number[], ours: number[], boolean]>([
    // The machine may have been slow in one round.
    ['compare each round with the matching round of the other side', 'purchasesPerSecond', [2, 8, 8], [4, 16, 1], true],
    ['compare each round if less is better', 'serverCpu', [100, 50, 50], [60, 25, 25], true],
    ['are not met if the server CPU is slightly too high', 'serverCpu', [100], [50.1], false],
    ['are not met if the throughput is slightly too low', 'purchasesPerSecond', [10], [19.9], false],
    ['are met by the absolute limit if not by the ratio', 'deliveredP95', [3], [3], true],
    ['are not met if both limits are exceeded', 'deliveredP95', [6], [3.1], false],
  ])('%s', (_, figure, baseline, ours, expected) => {
    expect(isMet(figure, { [figure]: baseline }, { [figure]: ours })).toBe(expected);
  });

  it('leave out figures that only one side has measured', () => {
    const ours = { serverCpu: [1], historyEvents: [26] };
    expect([isMet('serverCpu', {}, ours), isMet('historyEvents', {}, ours)]).toEqual([undefined, true]);
  });

  it('refer only to measured scenarios and sides', () => {
    const isMeasured = ({ scenario, side, to = side }: (typeof GOALS)[number]) =>
      SCENARIOS.some(({ name, sides }) => name === scenario && sides.includes(side) && sides.includes(to));
    expect(GOALS.filter((goal) => !isMeasured(goal))).toEqual([]);
  });
});
