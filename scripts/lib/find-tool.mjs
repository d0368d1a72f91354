import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { say } from './progress.mjs';

/**
 * One way to come by a tool.
 *
 * @typedef {object} Way
 * @property {string} name as people read it, for instance `temporal on PATH`
 * @property {() => Promise<string | undefined>} find the tool's path; undefined if there is nothing to be had this way;
 *   throws if it was tried and failed
 */

/**
 * Goes the ways in their order and takes the first that leads to the tool.
 *
 * @param {string} tool
 * @param {readonly Way[]} ways
 * @param {string} advice what a person can install or set when no way leads there
 * @returns {Promise<string>} the tool's path
 * @throws {Error} one message that names every way and how it failed, and ends with the advice
 */
export async function findTool(tool, ways, advice) {
  const failures = [];
  for (const [index, way] of ways.entries()) {
    try {
      const path = await way.find();
      if (path) return path;
      failures.push(`${way.name}: nothing there`);
    } catch (error) {
      const reason = messageOf(error);
      failures.push(`${way.name}: ${reason}`);
      const next = ways[index + 1];
      if (next) say(`${tool}: ${way.name} failed (${firstLine(reason)}). Falling back to ${next.name}.`);
    }
  }
  throw new Error(
    [`No ${tool} could be found or made. Tried, in this order:`, ...failures.map(bullet), advice].join('\n'),
  );
}

/**
 * The first of `ways` that leads to the tool at once; their failures are not worth a word yet.
 *
 * @param {readonly Way[]} ways
 * @returns {Promise<string | undefined>}
 */
export async function findQuietly(ways) {
  for (const way of ways) {
    const path = await way.find().catch(() => undefined);
    if (path) return path;
  }
  return undefined;
}

/**
 * The full path of a program on PATH, undefined if there is none.
 *
 * @param {string} name without `.exe`
 */
export function onPath(name) {
  const file = executableName(name);
  const candidates = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return candidates.map((dir) => join(dir, file)).find(isExecutable);
}

/** @param {string} name */
export function executableName(name) {
  return process.platform === 'win32' ? `${name}.exe` : name;
}

/**
 * Fills a folder of the cache in one go: `make` works in a draft beside it, which is renamed when all is well, so a run
 * that is killed half-way leaves nothing that a later one could take for whole. Call it with the tool's lock held.
 *
 * @param {string} dir
 * @param {(draft: string) => Promise<void>} make
 */
export async function fillFolder(dir, make) {
  await mkdir(dirname(dir), { recursive: true });
  await sweepDrafts(dir);
  const draft = await mkdtemp(`${dir}.draft-`);
  try {
    await make(draft);
    await rm(dir, { recursive: true, force: true });
    await rename(draft, dir);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {string} dir */
async function sweepDrafts(dir) {
  const names = await readdir(dirname(dir));
  const drafts = names.filter((name) => name.startsWith(`${basename(dir)}.draft-`));
  await Promise.all(drafts.map((name) => rm(join(dirname(dir), name), { recursive: true, force: true })));
}

/** @param {string} path */
function isExecutable(path) {
  if (!existsSync(path) || !statSync(path).isFile()) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} text */
function firstLine(text) {
  return text.split('\n', 1)[0]?.replace(/[:.]$/, '') ?? '';
}

/** @param {string} text */
function bullet(text) {
  return `  - ${text.replaceAll('\n', '\n    ')}`;
}
