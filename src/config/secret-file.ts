import { type BigIntStats, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';

/** The minimum time between two checks of a file. */
const CHECK_EVERY_MS = 1_000;
/** A file that changed within this time may not be complete yet: half a secret can look like a whole one. */
const AT_REST_MS = 1_000;
/** No secret is longer than this. The limit keeps a wrong path from filling the memory. */
const MAX_BYTES = 64 * 1024;

/** The file holds no usable secret. The message ends the sentence "got …" and never contains the secret. */
export class UnusableFileError extends Error {}

export interface SecretFile<T> {
  path: string;
  /** Its issues never contain the value. */
  parser: z.ZodType<() => T>;
  /** Called once when the file stops being usable. The message contains no secret. */
  onProblem(problem: string): void;
  /** A clock in ms. */
  now(): number;
}

/**
 * Reads a secret now, and again once its file has changed and then stayed the same for a second. While the file is
 * missing or invalid, as during a rotation, the last good value stays in use.
 *
 * @returns a function that returns the current value.
 * @throws UnusableFileError only now; the returned function never throws it.
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
      // A negative age only means that the file system's clock is ahead of this machine's.
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
 * Whether every user can read the file: its mode allows it, and so does every folder above it. A secret that Docker
 * mounts is always readable by every user of its container.
 */
export function isOpenToAll(path: string): boolean {
  const file = resolve(path);
  const modeOf = (name: string) => statSync(name, { throwIfNoEntry: false })?.mode ?? 0;
  const canBeEntered = (folder: string): boolean =>
    (modeOf(folder) & 0o001) !== 0 && (folder === dirname(folder) || canBeEntered(dirname(folder)));
  return !file.startsWith('/run/secrets/') && (modeOf(file) & 0o004) !== 0 && canBeEntered(dirname(file));
}

/** Drops the line break at the end. The version is read first, so that the next check sees any later change. */
function readSecret<T>(path: string, parser: z.ZodType<() => T>): { version: string; value: () => T } {
  const version = versionOf(statOf(path));
  const text = readFrom(path, () => readFileSync(path, 'utf8')).replace(/[\r\n]+$/, '');
  if (text === '') throw new UnusableFileError(`the empty file ${path}`);
  const { data: value, error } = parser.safeParse(text);
  if (value === undefined) throw new UnusableFileError(`in the file ${path}: ${error?.issues[0]?.message}`);
  return { version, value };
}

function statOf(path: string): BigIntStats {
  const stat = readFrom(path, () => statSync(path, { bigint: true }));
  if (!stat.isFile()) throw new UnusableFileError(`${path}, which is not a file`);
  if (stat.size > MAX_BYTES) throw new UnusableFileError(`${path}, which is too large for a secret`);
  return stat;
}

/** Changes when the file is written or replaced, or when its link changes. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

function readFrom<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code = 'an unknown error' } = error as NodeJS.ErrnoException;
    const problem = `can't be read (${code})`;
    if (isPath(path)) throw new UnusableFileError(`the file ${path}, which ${problem}`);
    throw new UnusableFileError(`a path that ${problem} and is not shown, because it may be the secret itself`);
  }
}

/** Somebody may set the variable to the secret itself, which no message may show. */
function isPath(path: string): boolean {
  const folder = dirname(path);
  return /^\.{1,2}\//.test(path) || (folder !== '.' && folder !== '/' && existsSync(folder));
}
