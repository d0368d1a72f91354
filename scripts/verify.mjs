import { log, step } from './lib/log.mjs';
import { run } from './lib/run.mjs';

/** Scripts of package.json. All of them run even after one has failed, so that you can fix everything at once. */
const CHECKS = ['typecheck', 'lint', 'format:check', 'unused', 'spelling', 'docs:check'];

const failed = [];
for (const check of CHECKS) {
  try {
    await step(check, () => run('npm', ['run', '--silent', check], { killSignal: 'SIGTERM' }));
  } catch (error) {
    failed.push(check);
    log(error.message);
  }
}
const ending = failed.length > 0 ? `; failed: ${failed.join(', ')}` : '';
process.stdout.write(`${CHECKS.length - failed.length} of ${CHECKS.length} checks passed${ending}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
