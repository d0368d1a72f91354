import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { withLock } from './lock.mjs';
import { log, step } from './log.mjs';
import { cacheDir } from './paths.mjs';
import { downloadWithSdk } from './sdk-download.mjs';

/**
 * @typedef {{ name: string, find: () => string | undefined | Promise<string | undefined> }} Way
 * @typedef {(dir: string, detail: (text: string) => void) => Promise<void>} Make puts the program into an empty folder
 *
 * @typedef {object} Tool
 * @property {string} name as shown in messages
 * @property {string} file its file name; `id` and `version` name its folder in the cache
 * @property {string} id
 * @property {string} version
 * @property {string} variable an environment variable with the path of another program to use
 * @property {(path: string) => Promise<void>} check throws if the program at this path does not run or is too old
 * @property {'dev-server' | 'time-skipping'} [kind] the kind of server that the SDK downloads
 * @property {{ name: string, make: Make }} [download] used instead of the SDK's own download
 * @property {string} fallback describes `make`, which is used if the download fails
 * @property {Make} make
 * @property {string} advice what you can do if everything fails
 */

/**
 * Returns the path of a working program. If the environment names a program, it must work. Otherwise, the first working
 * program is used: on the PATH, in the cache, downloaded, or made by the fallback. An error lists how each source failed.
 *
 * @type {(tool: Tool) => Promise<string>}
 */
export async function ensureTool(tool) {
  const chosen = process.env[tool.variable];
  if (chosen) {
    await tool.check(chosen).catch((error) => {
      throw new Error(`${tool.variable} is set to ${chosen}, but: ${error.message}`);
    });
    return chosen;
  }
  const file = process.platform === 'win32' ? `${tool.file}.exe` : tool.file;
  // The folder's name contains version and platform, because several machines may share a home folder.
  const dir = join(cacheDir(), `${tool.id}-${tool.version}-${process.platform}-${process.arch}`);
  const cached = join(dir, file);
  const ready = [
    { name: `${tool.file} on PATH`, find: () => onPath(file) },
    { name: 'the cache', find: () => (existsSync(cached) ? cached : undefined) },
  ];
  // These failures are reported only if nothing is ready to use.
  const found = await firstOf(ready, tool.check, () => undefined);
  if (found) return found;

  /** @type {(name: string, make: Make) => Way} */
  const made = (name, make) => {
    const title = `${tool.name} ${tool.version}: ${name}`;
    return { name, find: () => step(title, (detail) => fill(dir, (draft) => make(draft, detail))).then(() => cached) };
  };
  const { kind, version } = tool;
  const download = tool.download ?? {
    name: "the SDK's own download",
    make: (draft, detail) => downloadWithSdk({ kind: String(kind), version }, join(draft, file), detail),
  };
  const making = [made(download.name, download.make), made(tool.fallback, tool.make)];
  return withLock(tool.id, `the ${tool.name}`, async () => {
    const failures = [`No ${tool.name} could be found or made. Tried, in this order:`];
    const path = await firstOf([...ready, ...making], tool.check, (way, reason, next) => {
      failures.push(`  - ${way.name}: ${reason?.replaceAll('\n', '\n    ') ?? 'not found'}`);
      const [summary] = reason?.split(/[:.]?\n/) ?? [];
      if (summary && next) log(`${tool.name}: ${way.name} failed (${summary}). Falling back to ${next.name}.`);
    });
    if (path) return path;
    throw new Error([...failures, tool.advice].join('\n'));
  });
}

/** @type {(ways: Way[], check: Tool['check'], onFailure: (way: Way, reason?: string, next?: Way) => void) => Promise<?string>} */
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
  return null;
}

/** @type {(dir: string, make: (draft: string) => Promise<void>) => Promise<void>} never leaves an incomplete tool behind */
export async function fill(dir, make) {
  const draft = `${dir}.draft`;
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft);
    await make(draft);
    await rm(dir, { recursive: true, force: true });
    await rename(draft, dir);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** @type {(file: string) => string | undefined} */
export function onPath(file) {
  const dirs = (process.env.PATH ?? '').split(delimiter);
  return dirs.map((dir) => resolve(dir, file)).find((path) => existsSync(path));
}
