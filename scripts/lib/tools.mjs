import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './places.mjs';

/**
 * The script behind a command of an installed package, to be run by this very Node: a shim in `node_modules/.bin` needs a
 * shell on Windows.
 *
 * @param {string} packageName
 * @param {string} [command] when the package has several
 * @returns {string} an absolute path
 */
export function toolPath(packageName, command = packageName) {
  const folder = join(projectRoot, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[command]);
}
