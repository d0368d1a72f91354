import { readFileSync, statSync } from 'node:fs';
import { inspect } from 'node:util';
import type { Form } from './forms';

/** A value that no log, dump or JSON shows. */
export interface Secret<T> {
  /** The value as of now: a secret that is read from a file follows the file. */
  current(): T;
}

const SHOWN = '[secret]';
/** How often a file is looked at, at most. */
const LOOK_EVERY_MS = 1_000;
/** A file that changed so recently may be in the middle of being written: half a key can look like a whole one. */
const AT_REST_MS = 1_000;
/** No secret is longer; a path that leads elsewhere must not fill the memory. */
const MOST_BYTES = 64 * 1024;

class OpaqueSecret<T> implements Secret<T> {
  readonly #read: () => T;

  constructor(read: () => T) {
    this.#read = read;
  }

  current(): T {
    return this.#read();
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}

/** A secret that stays as it is. */
export function fixedSecret<T>(value: T): Secret<T> {
  return new OpaqueSecret(() => value);
}

export interface SecretFileOptions {
  /** Called once when the file can't be used any more, and again only after it could. The text holds no secret. */
  onProblem(problem: string): void;
  /** A clock in ms. */
  now(): number;
}

/** Why a file holds no usable secret. The message ends the sentence "got …". */
export class UnusableFileError extends Error {}

/**
 * A secret that is read from a file, and read again when the file has changed and then been left alone for a second. While
 * the file is missing or invalid, as in the middle of a rotation, the last good value stays in use.
 *
 * @param name the variable that names the file, for `onProblem`.
 * @throws UnusableFileError when the file can't be used at the start.
 */
export function secretFromFile<T>(name: string, path: string, form: Form<T>, options: SecretFileOptions): Secret<T> {
  let good = load(path, form);
  let lookedAt = options.now();
  let troubled = false;

  return new OpaqueSecret(() => {
    const now = options.now();
    if (Math.abs(now - lookedAt) < LOOK_EVERY_MS) return good.value;
    lookedAt = now;
    try {
      const changed = troubled || stateOf(path) !== good.state;
      if (changed && isBeingWritten(path, now)) return good.value;
      if (changed) good = load(path, form);
      troubled = false;
    } catch (error) {
      if (!(error instanceof UnusableFileError)) throw error;
      if (!troubled) options.onProblem(`${name}: ${error.message}; the last good value stays in use`);
      troubled = true;
    }
    return good.value;
  });
}

/** The state is taken before the content: a change in between is seen at the next look. */
function load<T>(path: string, form: Form<T>): { value: T; state: string } {
  const state = stateOf(path);
  const written = attempt(path, () => readFileSync(path, 'utf8')).replace(/[\r\n]+$/, '');
  if (written === '') throw new UnusableFileError(`the empty file ${path}`);
  const value = form.parse(written);
  if (value === undefined) throw new UnusableFileError(`in the file ${path}: ${form.show(written)}`);
  return { value, state };
}

/** Not so where the clock of the files is ahead of ours: it would then tell nothing. */
function isBeingWritten(path: string, now: number): boolean {
  const age = now - attempt(path, () => statSync(path)).ctimeMs;
  return age >= 0 && age < AT_REST_MS;
}

/** Changes when the file was written, replaced, or the link to it set anew. */
function stateOf(path: string): string {
  const stat = attempt(path, () => statSync(path, { bigint: true }));
  if (!stat.isFile()) throw new UnusableFileError(`${path}, which is no file`);
  if (stat.size > MOST_BYTES) throw new UnusableFileError(`${path}, which is too large for a secret`);
  return [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(':');
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code = 'an unknown error' } = error as NodeJS.ErrnoException;
    throw new UnusableFileError(`the file ${path}, which can't be read (${code})`);
  }
}
