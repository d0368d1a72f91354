import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { withLock } from './lock.mjs';
import { log, step } from './log.mjs';
import { cacheDir } from './paths.mjs';

/**
 * @typedef {{ name: string, find: () => string | undefined | Promise<string | undefined> }} Way
 * @typedef {(dir: string, detail: (text: string) => void) => Promise<void>} Make puts the program into an empty folder
 *
 * @typedef {object} Tool a program that is found, or made and kept in the cache
 * @property {string} name as people read it
 * @property {string} id of its folder in the cache and of its lock
 * @property {string} version
 * @property {string} file its file name, without `.exe`
 * @property {string} variable an environment variable that names another
 * @property {(path: string) => Promise<void>} check throws when the program at this path does not run, or is too old
 * @property {Way[]} ready where it may lie already; after them comes the cache
 * @property {{ name: string, make: Make }[]} makers
 * @property {string} advice what a person can install or set when there is none to be had
 */

/**
 * The one that the environment names, else the first that is ready, else the first that can be made.
 *
 * @param {Tool} tool
 * @returns {Promise<string>} the path of one that runs
 * @throws {Error} one message that names every way and how it failed, and ends with the advice; or that the environment
 *   names one that does not run
 */
export async function ensureTool({ check, ...tool }) {
  const chosen = process.env[tool.variable];
  if (chosen) {
    const complain = (/** @type {Error} */ error) => {
      throw new Error(`${tool.variable} is set to ${chosen}, but: ${error.message}`);
    };
    return check(chosen).then(() => chosen, complain);
  }
  // Version and platform are in the folder's name, so a home folder that several machines share mixes nothing up.
  const dir = join(cacheDir(), `${tool.id}-${tool.version}-${process.platform}-${process.arch}`);
  const cached = join(dir, executableName(tool.file));
  const ready = [...tool.ready, { name: 'the cache', find: () => (existsSync(cached) ? cached : undefined) }];
  // How it fails is told only where nothing else is ready.
  const found = await firstOf(ready, check, () => undefined);
  if (found) return found;

  const making = tool.makers.map(({ name, make }) => {
    const title = `${tool.name} ${tool.version}: ${name}`;
    return { name, find: () => step(title, (detail) => fill(dir, (draft) => make(draft, detail))).then(() => cached) };
  });
  return withLock(tool.id, `the ${tool.name}`, async () => {
    const failures = [`No ${tool.name} could be found or made. Tried, in this order:`];
    const path = await firstOf([...ready, ...making], check, (way, reason, next) => {
      failures.push(`  - ${way.name}: ${reason?.replaceAll('\n', '\n    ') ?? 'nothing there'}`);
      const [summary] = reason?.split(/[:.]?\n/) ?? [];
      if (summary && next) log(`${tool.name}: ${way.name} failed (${summary}). Falling back to ${next.name}.`);
    });
    if (path) return path;
    throw new Error([...failures, tool.advice].join('\n'));
  });
}

/**
 * @param {Way[]} ways
 * @param {Tool['check']} check
 * @param {(way: Way, reason?: string, next?: Way) => void} onFailure without a reason where there is nothing
 */
async function firstOf(ways, check, onFailure) {
  for (const [index, way] of ways.entries()) {
    try {
      const path = await way.find();
      if (path) await check(path);
      if (path) return path;
      onFailure(way);
    } catch (error) {
      onFailure(way, error.message, ways[index + 1]);
    }
  }
  return undefined;
}

/**
 * Fills a folder in one go: the draft beside it is renamed when all is well, so a run that is killed half-way leaves
 * nothing that a later one could take for whole. Call it with the tool's lock held.
 *
 * @param {string} dir
 * @param {(draft: string) => Promise<void>} make
 */
async function fill(dir, make) {
  for (const name of await readdir(dirname(dir))) {
    if (name.startsWith(`${basename(dir)}.draft-`)) await rm(join(dirname(dir), name), { recursive: true });
  }
  const draft = await mkdtemp(`${dir}.draft-`);
  try {
    await make(draft);
    await rm(dir, { recursive: true, force: true });
    await rename(draft, dir);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** @param {string} name without `.exe` */
export function onPath(name) {
  const dirs = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return dirs.map((dir) => join(dir, executableName(name))).find((path) => existsSync(path));
}

/** @param {string} name */
export function executableName(name) {
  return process.platform === 'win32' ? `${name}.exe` : name;
}
