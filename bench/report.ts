import { FIGURES, type FigureName } from './figures';
import { type Goal, type Outcome, outcomes, ratioOf } from './goals';
import type { Machine } from './machine';
import { type Figures, readResults, RESULTS, type ScenarioResult } from './results';
import { SCENARIOS } from './scenarios';
import type { SideName } from './sides';
import { median } from './statistics';

type Results = ReadonlyMap<string, ScenarioResult>;

const SIDE_LABELS: Record<SideName, string> = {
  baseline: 'baseline',
  ours: 'ours',
  history: 'ours, `PURCHASE_WATCH=history`',
};

const MANY_ORDERS = 50_000;
const INTERVAL_S = 30;

const NO_RESULTS = 'There are no results yet.';

/** The goals and what was measured, for docs/performance.md. */
export function renderGoals(): string {
  const results = readResults(RESULTS);
  if (results.size === 0) return NO_RESULTS;
  const all = outcomes(results);
  const met = all.filter(({ isMet }) => isMet).length;
  const plot = '![Ratios and their goals](../bench/results/ratios.svg)';
  const parts = [plot, `${met} of ${all.length} goals are met.`, goalTable(all), latency(results)];
  return parts.filter(Boolean).join('\n\n');
}

/** The latency, which has no goal, in one sentence for each side. */
function latency(results: Results): string {
  const { figures: { ours, baseline } = {} } = results.get('latency') ?? {};
  if (!ours || !baseline) return '';
  const ms = (side: Figures, name: FigureName) => formatFigure(name, median(side[name] ?? []));
  const described = (side: Figures) =>
    `${ms(side, 'arrivedP50')} ms (p95 ${ms(side, 'arrivedP95')}), of which the partner took ${ms(side, 'partnerP50')}`;
  return [
    "**Latency** at one purchase a second, complete at once, from the checkout's call to the event:",
    `${described(ours)}; baseline ${described(baseline)}.`,
  ].join(' ');
}

/** Every figure of every scenario, for bench/results/README.md. */
export function renderFigures(): string {
  const results = readResults(RESULTS);
  return results.size === 0 ? NO_RESULTS : scenarioSections(results).join('\n\n');
}

/** The goals, then every figure of every scenario, in Markdown that also reads well on a terminal. */
export function report(results: Results): string {
  return [goalTable(outcomes(results)), ...scenarioSections(results)].join('\n\n');
}

function scenarioSections(results: Results): string[] {
  const measured = SCENARIOS.flatMap(({ name }) => results.get(name) ?? []);
  return [...measured.map(scenarioSection), ...manyOrders(results)];
}

function goalTable(all: readonly Outcome[]): string {
  const rows = all.map(({ goal, compared, measured, ratio, isMet }) => [
    goal.label,
    compared === undefined ? '' : formatFigure(goal.figure, compared),
    formatFigure(goal.figure, measured),
    ratio === undefined ? '' : ratio.toFixed(2),
    describeGoal(goal),
    isMet ? 'met' : '**missed**',
  ]);
  return table([['figure', 'compared with', 'ours', 'ratio', 'goal', ''], ...rows]);
}

/** Such as `≤ 0.67`. */
export function describeGoal({ figure, atLeast, atMost, orAtMost }: Goal): string {
  const bounds = [
    atLeast === undefined ? '' : `≥ ${rounded(atLeast)}`,
    atMost === undefined ? '' : `≤ ${rounded(atMost)}`,
  ];
  const other = orAtMost === undefined ? '' : ` or ≤ ${formatFigure(figure, orAtMost)} s`;
  return bounds.join('') + other;
}

function scenarioSection({ title, figures, rounds, settings, machine, measuredAt }: ScenarioResult): string {
  const sides = (Object.keys(figures) as SideName[]).filter((side) => figures[side]);
  const names = (Object.keys(FIGURES) as FigureName[]).filter((name) => sides.some((side) => figures[side]?.[name]));
  const rows = names.map((name) => {
    const cells = sides.map((side) => spread(name, figures[side]?.[name]));
    const [ours, baseline] = [figures.ours?.[name], figures.baseline?.[name]];
    return [FIGURES[name].label, ...cells, ours && baseline ? fixed(ratioOf(ours, baseline), 2) : ''];
  });
  const given = Object.entries(settings).map(([name, value]) => `${name} ${plain(value)}`);
  const head = ['figure', ...sides.map((side) => SIDE_LABELS[side]), 'ratio'];
  const rounded = rounds === 1 ? 'one round' : `${rounds} rounds`;
  return [
    `## ${title}`,
    `${rounded}; ${given.join(', ')}`,
    table([head, ...rows]),
    describeRun(machine, measuredAt),
  ].join('\n\n');
}

/** The cost of more orders than this machine can hold open, in proportion to the orders that it did hold open. */
function manyOrders(results: Results): string[] {
  const { figures = {} } = results.get('open-orders') ?? {};
  const sides = (Object.keys(figures) as SideName[]).filter((side) => figures[side]);
  if (sides.length === 0) return [];
  const row = (label: string, name: FigureName, perSecond: number, decimals: number) => [
    label,
    ...sides.map((side) =>
      fixed((median(figures[side]?.[name] ?? []) * MANY_ORDERS) / INTERVAL_S / perSecond, decimals),
    ),
  ];
  const rows = [
    row("cores for the server's CPU", 'serverCpuPerPoll', 1_000, 1),
    row("cores for the workers' CPU", 'workerCpuPerPoll', 1_000, 1),
    row('partner requests each second', 'requestsPerPoll', 1, 0),
  ];
  const title = `## Calculated, not measured: ${MANY_ORDERS.toLocaleString('en')} open orders, polled every ${INTERVAL_S} s`;
  const from = 'From the costs per order and interval above, assuming that they grow in proportion.';
  return [title, from, table([['figure', ...sides.map((side) => SIDE_LABELS[side])], ...rows])];
}

function describeRun(
  { cpu, cores, memoryGb, platform, loadBefore, node, server, sdk }: Machine,
  measuredAt: string,
): string {
  const hardware = `${cores} cores (${cpu}), ${memoryGb} GB, ${platform}, load before ${loadBefore}`;
  return `Measured ${measuredAt} on ${hardware}; Node ${node}, Temporal server ${server}, SDK ${sdk}.`;
}

/** The median, followed by the minimum and the maximum if there were several rounds. */
function spread(name: FigureName, values: readonly number[] = []): string {
  if (values.length === 0) return '';
  const [least, greatest] = [formatFigure(name, Math.min(...values)), formatFigure(name, Math.max(...values))];
  const middle = formatFigure(name, median(values));
  return least === greatest ? middle : `${middle} (${least}–${greatest})`;
}

function formatFigure(name: FigureName, value: number): string {
  return fixed(value, FIGURES[name].decimals);
}

function fixed(value: number, decimals: number): string {
  return Number.isFinite(value) ? value.toFixed(decimals) : '–';
}

function plain(value: string | number): string {
  return typeof value === 'number' ? rounded(value) : value;
}

function rounded(value: number): string {
  return String(Math.round(value * 1_000) / 1_000);
}

/** A table in Markdown that also reads well on a terminal. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const [head = '', ...body] = lines;
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n');
}
