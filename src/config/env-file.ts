import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

/** The file `.env` exists and can't be used. Exit code 78. */
class EnvFileError extends Error {
  override readonly name = 'EnvFileError';
  readonly exitCode = 78;
}

/** A further variable inside a value: a quote was never closed. A line of a PEM block may only end with `=`. */
const SWALLOWED = /\n\s*(?:export\s+)?([A-Za-z_]\w*)\s*=[^=\s]/;

/**
 * Loads `.env` from the current directory into the environment, if the file exists. Variables that are already set win.
 *
 * @throws EnvFileError, which shows no value
 */
export function loadEnvFile(): void {
  const path = resolve('.env');
  // A folder of this name is a Python environment.
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  for (const [name, value = ''] of Object.entries(parseEnv(readText(path)))) {
    const [, swallowed] = SWALLOWED.exec(value) ?? [];
    if (swallowed !== undefined) {
      throw new EnvFileError(`${path}: the value of ${name} contains the line of ${swallowed}. Close its quote.`);
    }
    process.env[name] ??= value;
  }
}

/** Without a byte order mark, which would become part of the first name, and with line feeds only. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
      .replace(/^\uFEFF/, '')
      .replaceAll(/\r\n?/g, '\n');
  } catch (error) {
    const { code = 'an unknown error' } = error as NodeJS.ErrnoException;
    throw new EnvFileError(`${path} can't be read (${code}). Let this user read it, or remove it.`);
  }
}
