import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import webpack from 'webpack';
import { projectRoot } from './paths.mjs';
import { run } from './run.mjs';

export const starterBundle = join(projectRoot, 'dist/starter-bundle.js');
export const starterCodeCache = `${starterBundle}.cache`;

/**
 * Puts the starter's commands and Temporal's client into one file, and beside it what V8 has compiled of it: a command
 * spends most of its time on finding and compiling 300 files. The file is a script whose value is a function of `require`.
 */
export async function bundleStarter() {
  // V8 takes the cache for any file of the same length. So there is never one beside a file that it was not made of.
  await rm(starterCodeCache, { force: true });
  const compiler = webpack({
    mode: 'none',
    target: 'node20',
    entry: join(projectRoot, 'dist/cli/index.js'),
    // What only some commands need stays outside, and is loaded by those.
    externals: {
      '../config': 'commonjs ./config',
      '../delivery': 'commonjs ./delivery',
      '../partner': 'commonjs ./partner',
      '../tracing': 'commonjs ./tracing',
    },
    output: {
      filename: 'starter-bundle.js',
      path: join(projectRoot, 'dist'),
      library: { name: 'commands', type: 'var' },
      pathinfo: true,
    },
    module: { parser: { javascript: { exprContextCritical: false } } },
  });
  const stats = await promisify(compiler.run.bind(compiler))();
  if (stats?.hasErrors()) throw new Error(stats.toString('errors-only'));
  const code = await readFile(starterBundle, 'utf8');
  // As plain ASCII it is read in a quarter of the time.
  const escaped = code.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  await writeFile(starterBundle, `(require) => {${escaped};\nreturn commands;\n}`);
  await run(process.execPath, [join(import.meta.dirname, 'starter-code-cache.mjs')]);
}
