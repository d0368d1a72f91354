import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { withLock } from './lock.mjs';
import { log, messageOf, step } from './log.mjs';
import { lockPath, toolDir } from './paths.mjs';

/**
 * A program that is found, or put into the cache.
 *
 * @typedef {object} Tool
 * @property {string} name as people read it
 * @property {string} id of its folder in the cache and of its lock
 * @property {string} version
 * @property {string} file its file name, without `.exe`
 * @property {string} variable an environment variable that names another
 * @property {(path: string) => Promise<void>} check throws when the program at this path doesn't run or doesn't do
 * @property {Way[]} ready where it may lie already; after them comes the cache
 * @property {Maker[]} makers
 * @property {string} advice what a person can install or set when there is none to be had
 *
 * @typedef {{ name: string, find: () => string | undefined | Promise<string | undefined> }} Way
 *
 * @typedef {object} Maker one way to get it into the cache
 * @property {string} name
 * @property {string} [takes] how long, if long
 * @property {(dir: string, detail: (text: string) => void) => Promise<unknown>} make puts it into an empty folder
 */

/**
 * The one that the environment names, else the first that is ready, else the first that can be made.
 *
 * @param {Tool} tool
 * @returns {Promise<string>} the path of one that runs
 * @throws {Error} one message that names every way and how it failed, and ends with the advice; or that the environment
 *   names one that does not run
 */
export async function ensureTool(tool) {
  const chosen = process.env[tool.variable];
  if (chosen) {
    return checked(tool, chosen).catch((error) => {
      throw new Error(`${tool.variable} is set to ${chosen}, but: ${messageOf(error)}`);
    });
  }
  const dir = toolDir(tool.id, tool.version);
  const cached = join(dir, executableName(tool.file));
  const cache = { name: 'the cache', find: () => (existsSync(cached) ? cached : undefined) };
  const ready = [...tool.ready, cache].map(({ name, find }) => ({
    name,
    find: async () => {
      const path = await find();
      return path && checked(tool, path);
    },
  }));
  for (const { find } of ready) {
    // How it fails is worth a word only if the lock is needed.
    const path = await find().catch(() => undefined);
    if (path) return path;
  }
  const making = tool.makers.map((maker) => ({ name: maker.name, find: () => fill(tool, maker, dir, cached) }));
  return withLock(lockPath(tool.id), `the ${tool.name}`, () => firstOf(tool, [...ready, ...making]));
}

/**
 * @param {Tool} tool
 * @param {readonly Way[]} ways
 */
async function firstOf(tool, ways) {
  const failures = [];
  for (const [index, { name, find }] of ways.entries()) {
    try {
      const path = await find();
      if (path) return path;
      failures.push(`${name}: nothing there`);
    } catch (error) {
      const reason = messageOf(error);
      failures.push(`${name}: ${reason}`);
      const next = ways[index + 1];
      const firstLine = reason.split('\n', 1)[0]?.replace(/[:.]$/, '');
      if (next) log(`${tool.name}: ${name} failed (${firstLine}). Falling back to ${next.name}.`);
    }
  }
  const tried = failures.map((failure) => `  - ${failure.replaceAll('\n', '\n    ')}`);
  throw new Error([`No ${tool.name} could be found or made. Tried, in this order:`, ...tried, tool.advice].join('\n'));
}

/**
 * Fills the tool's folder in one go: the maker works in a draft beside it, which is renamed when all is well, so a run that
 * is killed half-way leaves nothing that a later one could take for whole. Call it with the tool's lock held.
 *
 * @param {Tool} tool
 * @param {Maker} maker
 * @param {string} dir
 * @param {string} cached the tool's path when all is done
 */
async function fill(tool, { name, takes, make }, dir, cached) {
  await step(`${tool.name} ${tool.version}: ${name}${takes ? ` (${takes})` : ''}`, async (detail) => {
    await removeDrafts(dir);
    const draft = await mkdtemp(`${dir}.draft-`);
    try {
      await make(draft, detail);
      await tool.check(join(draft, basename(cached)));
      await rm(dir, { recursive: true, force: true });
      await rename(draft, dir);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  });
  return cached;
}

/** @param {string} dir */
async function removeDrafts(dir) {
  await mkdir(dirname(dir), { recursive: true });
  const names = (await readdir(dirname(dir))).filter((name) => name.startsWith(`${basename(dir)}.draft-`));
  await Promise.all(names.map((name) => rm(join(dirname(dir), name), { recursive: true, force: true })));
}

/**
 * @param {Tool} tool
 * @param {string} path
 */
async function checked(tool, path) {
  await tool.check(path);
  return path;
}

/**
 * The full path of a program on PATH, undefined if there is none.
 *
 * @param {string} name without `.exe`
 */
export function onPath(name) {
  const dirs = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return dirs.map((dir) => join(dir, executableName(name))).find(isExecutable);
}

/** @param {string} name */
export function executableName(name) {
  return process.platform === 'win32' ? `${name}.exe` : name;
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
