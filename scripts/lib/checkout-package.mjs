import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import webpack from 'webpack';
import { projectRoot } from './paths.mjs';
import { run } from './run.mjs';

/** The folder of the package `durable-fulfilment-checkout`. */
export const checkoutFolder = join(projectRoot, 'checkout');
const build = join(checkoutFolder, 'build');
const dist = join(checkoutFolder, 'dist');
const packages = join(projectRoot, 'node_modules');
const ENTRY = 'starter/checkout';
/** The packages that the bundle contains, each with the file of its licence. */
const BUNDLED = { dataloader: 'LICENSE', 'fastest-levenshtein': 'LICENSE.md', zod: 'LICENSE' };

/** Builds the package into `checkout/dist`: one file of code, the declarations behind it, and the JSON Schemas. */
export async function buildCheckoutPackage() {
  await Promise.all([build, dist].map((folder) => rm(folder, { recursive: true, force: true })));
  await run('tsc', ['-p', 'checkout']);
  await bundle();
  await copyDeclarations();
  await cp(join(projectRoot, 'docs/schemas'), join(dist, 'schemas'), { recursive: true });
  for (const [name, licence] of Object.entries(BUNDLED))
    await cp(join(packages, name, licence), join(dist, 'licenses', `${name}.txt`));
  await cp(join(projectRoot, 'LICENSE'), join(checkoutFolder, 'LICENSE'));
  await rm(build, { recursive: true });
}

/** Bundles everything, because zod as a dependency would install eight megabytes for a few schemas. */
async function bundle() {
  const compiler = webpack({
    mode: 'production',
    target: 'node20',
    devtool: false,
    entry: join(build, `${ENTRY}.js`),
    // Node finds the names of these exports when an ES module imports them.
    output: { path: dist, filename: 'index.js', library: { type: 'commonjs-static' } },
    externals: { '@temporalio/client': 'commonjs @temporalio/client' },
    // Unused code is left out, such as the rest of Temporal's packages.
    module: { rules: [{ include: [build, join(packages, '@temporalio')], sideEffects: false }] },
    optimization: { minimize: false },
    performance: false,
  });
  const stats = await new Promise((resolve, reject) => {
    compiler.run((error, result) => (error ? reject(error) : resolve(result)));
  });
  if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString('errors-warnings'));
}

/** Copies only what the entry reaches. A declaration that needs another package than Temporal's client would not compile. */
async function copyDeclarations() {
  const files = [join(build, `${ENTRY}.d.ts`)];
  for (const file of files) {
    const text = await readFile(file, 'utf8');
    for (const [, target = ''] of text.matchAll(/(?:from |import\()'([^']+)'/g)) {
      if (!target.startsWith('.') && target !== '@temporalio/client') throw new Error(`${file} needs ${target}`);
      const next = join(dirname(file), `${target}.d.ts`);
      if (target.startsWith('.') && !files.includes(next)) files.push(next);
    }
    const copy = file.replace(build, join(dist, 'types'));
    await mkdir(dirname(copy), { recursive: true });
    await writeFile(copy, text);
  }
}
