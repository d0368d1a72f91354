// Builds and packs the package for checkouts. The last line of stdout is the path of the archive, for `npm install`.
import { join } from 'node:path';
import { buildCheckoutPackage, checkoutFolder } from './lib/checkout-package.mjs';
import { withLock } from './lib/lock.mjs';
import { step } from './lib/log.mjs';
import { run } from './lib/run.mjs';

const archive = await withLock(checkoutFolder, 'the package for checkouts', async () => {
  await step('The package for checkouts', buildCheckoutPackage);
  const options = { cwd: checkoutFolder, stdoutOnly: true };
  const [{ filename }] = JSON.parse(await run('npm', ['pack', '--json', '--silent'], options));
  return join(checkoutFolder, filename);
});
process.stdout.write(`${archive}\n`);
