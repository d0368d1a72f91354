// Builds the package for checkouts and packs it. The last line of stdout is the path of the archive, for `npm install`.
import { join } from 'node:path';
import { buildCheckoutPackage, checkoutFolder } from './lib/checkout-package.mjs';
import { step } from './lib/log.mjs';
import { run } from './lib/run.mjs';

await step('The package for checkouts', buildCheckoutPackage);
const packed = await run('npm', ['pack', '--json', '--silent'], { cwd: checkoutFolder });
const [{ filename }] = JSON.parse(packed);
process.stdout.write(`${join(checkoutFolder, filename)}\n`);
