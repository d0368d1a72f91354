import { runMain } from './lib/main.mjs';
import { messageOf } from './lib/find-tool.mjs';
import { projectRoot } from './lib/places.mjs';
import { ensureDependencies } from './lib/prepare.mjs';
import { say, step } from './lib/progress.mjs';
import { run } from './lib/run.mjs';
import { toolPath } from './lib/tools.mjs';

/** @returns {{ title: string, script: string, args: string[] }[]} */
function checks() {
  return [
    { title: 'Types', script: toolPath('typescript', 'tsc'), args: ['-p', 'tsconfig.test.json', '--noEmit'] },
    { title: 'Types of the scripts', script: toolPath('typescript', 'tsc'), args: ['-p', 'scripts'] },
    { title: 'Lint', script: toolPath('oxlint'), args: ['--type-aware', '--deny-warnings', '--format=unix'] },
    { title: 'Format', script: toolPath('prettier'), args: ['--check', '.'] },
    { title: 'Unused code', script: toolPath('knip'), args: [] },
    { title: 'Generated docs in step', script: 'scripts/docs.mjs', args: ['--check'] },
  ];
}

/** Runs every check even after one has failed: a person fixes them all at once. */
await runMain(async () => {
  await ensureDependencies();
  const all = checks();
  const failed = [];
  for (const { title, script, args } of all) {
    try {
      await step(title, () => run(process.execPath, [script, ...args], { cwd: projectRoot }));
    } catch (error) {
      failed.push(title);
      say(messageOf(error));
    }
  }
  process.stdout.write(
    `${all.length - failed.length} of ${all.length} checks passed${failed.length ? `; failed: ${failed.join(', ')}` : ''}\n`,
  );
  return failed.length ? 1 : 0;
});
