// `node scripts/run.mjs NAME …`: installs missing packages, then runs NAME.mjs from this folder, which may import them.
// Everything loaded before that (this file, require-node, dependencies, lock, foreground, paths, log) imports only Node's modules.
import './lib/require-node.mjs';
import { ensureDependencies } from './lib/dependencies.mjs';
import { log } from './lib/log.mjs';

// Remove the name, so that the script finds its arguments in their usual place.
const [name] = process.argv.splice(2, 1);

try {
  await ensureDependencies();
  await import(`./${name}.mjs`);
} catch (error) {
  log(error.message);
  // In the closing line of a test run, a failure to run or to count the tests is one failure.
  if (name === 'test') process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
}
