// `node scripts/run.mjs NAME …`: installs the packages that are missing, then runs NAME.mjs of this folder, which may import
// any of them. What is loaded before that (this file, dependencies, lock, foreground, paths, log) imports only Node.
import { ensureDependencies } from './lib/dependencies.mjs';
import { log } from './lib/log.mjs';

// Taken out, so that the script finds its own arguments where it would if it had been started itself.
const [name] = process.argv.splice(2, 1);

try {
  await ensureDependencies();
  await import(`./${name}.mjs`);
} catch (error) {
  log(error.message);
  // The last line of a test run counts what kept the tests from running, or from being counted.
  if (name === 'test') process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
}
