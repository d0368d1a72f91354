import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FigureName } from './figures';
import type { Machine } from './machine';
import { projectRoot } from './paths';
import type { SideName } from './sides';

/** The kept result of a scenario. Each has its own file, so that a single scenario can be measured again. */
export interface ScenarioResult {
  scenario: string;
  title: string;
  measuredAt: string;
  machine: Machine;
  rounds: number;
  settings: Readonly<Record<string, string | number>>;
  figures: Partial<Record<SideName, Figures>>;
}

/** The values of each figure, in the order of the rounds. */
export type Figures = Partial<Record<FigureName, number[]>>;

export const RESULTS = join(projectRoot, 'bench/results');

/** Quick runs only show that everything works, so their results are kept apart. */
export const QUICK_RESULTS = join(RESULTS, 'quick');

export function writeResult(folder: string, result: ScenarioResult): void {
  mkdirSync(folder, { recursive: true });
  const json = JSON.stringify(result, undefined, 2);
  // All rounds of a figure on one line, so that a reader can compare them.
  const inLines = json.replaceAll(/\[[\d\s.,e-]*\]/g, (rounds) => rounds.replaceAll(/\s+/g, ' '));
  writeFileSync(join(folder, `${result.scenario}.json`), `${inLines}\n`);
}

/** The kept results by scenario. */
export function readResults(folder: string): Map<string, ScenarioResult> {
  const files = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.endsWith('.json'));
  const results = files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ScenarioResult);
  return new Map(results.map((result) => [result.scenario, result]));
}
