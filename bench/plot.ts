import { outcomes } from './goals';
import { describeGoal } from './report';
import type { ScenarioResult } from './results';

const ROW = 26;
const LEFT = 300;
const WIDTH = 860;
/** Longer bars are cut off here. Their number follows. */
const MAX_RATIO = 3;

/** Draws each ratio that has a goal: a bar, a mark at the goal, and a line where both sides are equal. */
export function plot(results: ReadonlyMap<string, ScenarioResult>): string {
  const rows = outcomes(results).flatMap(({ goal, ratio, isMet }) =>
    ratio === undefined ? [] : [{ label: goal.label, ratio, isMet, goal, wanted: goal.atLeast ?? goal.atMost ?? 1 }],
  );
  const height = 70 + rows.length * ROW;
  const bars = rows.map(({ label, ratio, isMet, goal, wanted }, index) => {
    const top = 50 + index * ROW;
    const end = x(ratio);
    return [
      `<text x="${LEFT - 10}" y="${top + 13}" text-anchor="end">${label}</text>`,
      `<rect x="${LEFT}" y="${top}" width="${end - LEFT}" height="18" fill="${isMet ? '#2f855a' : '#c05621'}"/>`,
      `<line x1="${x(wanted)}" x2="${x(wanted)}" y1="${top - 3}" y2="${top + 21}" stroke="#000" stroke-width="2"/>`,
      `<text x="${Math.max(end, x(wanted)) + 6}" y="${top + 13}">${ratio.toFixed(2)}, goal ${describeGoal(goal)}</text>`,
    ].join('\n');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="10" y="22" font-size="14">Ours as a ratio of what it is compared with; the mark is the goal, green meets it</text>`,
    `<line x1="${x(1)}" x2="${x(1)}" y1="40" y2="${height - 14}" stroke="#888" stroke-dasharray="4 3"/>`,
    ...bars,
    '</svg>\n',
  ].join('\n');
}

function x(ratio: number): number {
  return Math.round(LEFT + (Math.min(ratio, MAX_RATIO) / MAX_RATIO) * (WIDTH - LEFT - 150));
}
