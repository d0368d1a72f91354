import { join } from 'node:path';
import { type ProcessEnv, startProcess } from '../../support/processes';
import type { Evidence } from './leak-search';

/** Runs a program of ours to its end. @returns all that it printed, in a place that names its exit code */
export async function runToEnd(program: 'worker' | 'starter', env: ProcessEnv, ...args: string[]): Promise<Evidence> {
  const running = startProcess(join(__dirname, `../../../dist/${program}.js`), args, { env });
  const { code } = await running.ended;
  return { place: `${program} ${args.join(' ')}: exit code ${code}`, text: running.output() };
}
