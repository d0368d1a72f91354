import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';

/** How often a file is checked, at most. */
const CHECK_EVERY_MS = 1_000;
/** A file that changed so recently may still be being written: half a key can look like a whole one. */
const AT_REST_MS = 1_000;
/** No secret is longer; a path that leads elsewhere must not fill the memory. */
const MAX_BYTES = 64 * 1024;

/** Why a file holds no usable secret. The message ends the sentence "got …" and holds no secret. */
export class UnusableFileError extends Error {}

export interface SecretFile<T> {
  path: string;
  /** Its issues never hold the value. */
  parser: z.ZodType<() => T>;
  /** Called once when the file can't be used any more. The message holds no secret. */
  onProblem(problem: string): void;
  /** A clock in ms. */
  now(): number;
}

/**
 * A secret that is read now, and again when its file has changed and then rested for a second. While the file is missing or
 * invalid, as during a rotation, the last good value stays in use.
 *
 * @returns the current value, at each call.
 * @throws UnusableFileError now, never later.
 */
export function followSecretFile<T>({ path, parser, onProblem, now }: SecretFile<T>): () => T {
  let { version, value } = readSecret(path, parser);
  let checkedAt = now();
  let isUnusable = false;

  return () => {
    if (Math.abs(now() - checkedAt) < CHECK_EVERY_MS) return value();
    checkedAt = now();
    try {
      const stat = statOf(path);
      const ageMs = now() - Number(stat.ctimeMs);
      // Below 0 the clock of the files is ahead of ours, and the age says nothing.
      const isAtRest = ageMs < 0 || ageMs >= AT_REST_MS;
      if (isAtRest && (isUnusable || versionOf(stat) !== version)) {
        ({ version, value } = readSecret(path, parser));
        isUnusable = false;
      }
    } catch (error) {
      if (!(error instanceof UnusableFileError)) throw error;
      if (!isUnusable) onProblem(`${error.message}; the last good value stays in use`);
      isUnusable = true;
    }
    return value();
  };
}

/**
 * Whether every user can read the file: its mode allows it, and no folder above keeps them out. What Docker mounts is readable for
 * whoever is in the container.
 */
export function isOpenToAll(path: string): boolean {
  const file = resolve(path);
  const modeOf = (name: string) => statSync(name, { throwIfNoEntry: false })?.mode ?? 0;
  const letsIn = (folder: string): boolean =>
    (modeOf(folder) & 0o001) !== 0 && (folder === dirname(folder) || letsIn(dirname(folder)));
  return !file.startsWith('/run/secrets/') && (modeOf(file) & 0o004) !== 0 && letsIn(dirname(file));
}

/** The line break at the end of the file is left out. The version is taken first: a later change is seen at the next check. */
function readSecret<T>(path: string, parser: z.ZodType<() => T>): { version: string; value: () => T } {
  const version = versionOf(statOf(path));
  const text = attempt(path, () => readFileSync(path, 'utf8')).replace(/[\r\n]+$/, '');
  if (text === '') throw new UnusableFileError(`the empty file ${path}`);
  const { data: value, error } = parser.safeParse(text);
  if (value === undefined) throw new UnusableFileError(`in the file ${path}: ${error?.issues[0]?.message}`);
  return { version, value };
}

function statOf(path: string): BigIntStats {
  const stat = attempt(path, () => statSync(path, { bigint: true }));
  if (!stat.isFile()) throw new UnusableFileError(`${path}, which is no file`);
  if (stat.size > MAX_BYTES) throw new UnusableFileError(`${path}, which is too large for a secret`);
  return stat;
}

/** Changes when the file was written, replaced, or the link to it set anew. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code = 'an unknown error' } = error as NodeJS.ErrnoException;
    throw new UnusableFileError(`the file ${path}, which can't be read (${code})`);
  }
}
