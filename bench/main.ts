import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from './machine';
import { plot } from './plot';
import { createProgress, type Progress } from './progress';
import { compareReplays } from './replay';
import { report } from './report';
import { type Figures, QUICK_RESULTS, readResults, RESULTS, type ScenarioResult, writeResult } from './results';
import type { FigureName } from './figures';
import { type Scenario, SCENARIOS } from './scenarios';
import { SIDES } from './sides';

const USAGE = `npm run bench [-- [--quick] [--scenario NAME]… [--rounds N] | --replay BUNDLE…]\nscenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}`;

interface Options {
  quick: boolean;
  scenarios: readonly Scenario[];
  rounds?: number;
  /** Workflow bundles to compare with this build's. If set, nothing else is measured. */
  bundles?: readonly string[];
}

/**
 * `npm run bench`: measures each scenario for baseline and worker in turn and keeps the results, or compares workflow
 * bundles. The exit code is 1 if something could not be measured, and 2 for invalid arguments. A missed goal is not an
 * error.
 */
async function main(): Promise<number> {
  const options = readOptions();
  if (!options) {
    console.error(USAGE);
    return 2;
  }
  const progress = createProgress();
  if (options.bundles) {
    const compared = await compareReplays(options.bundles, progress);
    progress.line('');
    console.log(compared);
    return 0;
  }
  const cli = process.env.TEMPORAL_CLI;
  if (!cli) throw new Error('TEMPORAL_CLI is not set. Start the benchmarks with `npm run bench`.');
  const folder = options.quick ? QUICK_RESULTS : RESULTS;
  let failed = 0;
  for (const scenario of options.scenarios) {
    try {
      writeResult(folder, await measure(scenario, cli, options, progress));
    } catch (error) {
      failed += 1;
      progress.line(`${scenario.name}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }
  const results = readResults(folder);
  writeFileSync(join(folder, 'ratios.svg'), plot(results));
  progress.line('');
  console.log(report(results));
  if (!options.quick) progress.line('`npm run docs` writes this into docs/performance.md');
  return failed > 0 ? 1 : 0;
}

function readOptions(): Options | undefined {
  const known = {
    quick: { type: 'boolean', default: false },
    scenario: { type: 'string', multiple: true },
    rounds: { type: 'string' },
    replay: { type: 'string', multiple: true },
  } as const;
  try {
    const { quick, scenario: names, rounds, replay: bundles } = parseArgs({ options: known }).values;
    const isKnown = (name: string) => SCENARIOS.some((scenario) => scenario.name === name);
    if (names && !names.every(isKnown)) return undefined;
    if (bundles && (quick || names || rounds)) return undefined;
    if (rounds !== undefined && !/^[1-9]\d?$/.test(rounds)) return undefined;
    const isWanted = ({ name, isLong }: Scenario) => (names ? names.includes(name) : !quick || !isLong);
    const scenarios = SCENARIOS.filter(isWanted);
    return { quick, scenarios, rounds: rounds === undefined ? undefined : Number(rounds), bundles };
  } catch {
    return undefined;
  }
}

/** The sides take turns in each round. */
async function measure(scenario: Scenario, cli: string, options: Options, progress: Progress): Promise<ScenarioResult> {
  const { name, title, sides } = scenario;
  const rounds = options.rounds ?? (options.quick ? 1 : scenario.rounds);
  const settings = options.quick ? { ...scenario.settings, ...scenario.quick } : scenario.settings;
  const [machine, measuredAt] = [describeMachine(cli), new Date().toISOString()];
  const figures: ScenarioResult['figures'] = {};
  for (let round = 1; round <= rounds; round++) {
    for (const sideName of sides) {
      progress.begin(`${name}  round ${round} of ${rounds}  ${sideName}`);
      const run = { cli, side: SIDES[sideName], progress: progress.detail };
      const measured = await twice(() => scenario.measure(run, settings), progress);
      const ofSide = (figures[sideName] ??= {});
      for (const [figure, value] of Object.entries(measured)) keep(ofSide, figure as FigureName, value);
    }
  }
  return { scenario: name, title, measuredAt, machine, rounds, settings, figures };
}

/** Retries a failed round once, so that one lost connection does not waste twenty minutes. */
async function twice<T>(work: () => Promise<T>, progress: Progress): Promise<T> {
  try {
    return await work();
  } catch (error) {
    progress.line(`failed, trying once more: ${String(error)}`);
    return work();
  }
}

function keep(figures: Figures, name: FigureName, value: number): void {
  // More digits would be noise.
  if (Number.isFinite(value)) (figures[name] ??= []).push(Number(value.toPrecision(5)));
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
