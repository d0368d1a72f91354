import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

/** The file `.env` exists but can't be used. Exit code 78. */
class EnvFileError extends Error {
  override readonly name = 'EnvFileError';
  readonly exitCode = 78;
}

/** Another variable inside a value: a quote was never closed. In a PEM block, `=` occurs only at the end of a line. */
const SWALLOWED = /\n\s*(?:export\s+)?([A-Za-z_]\w*)\s*=[^=\s]/;

/**
 * Loads `.env` from the current directory into the environment, if the file exists. Variables that are already set win.
 *
 * @throws EnvFileError, which never contains a value
 */
export function loadEnvFile(): void {
  const path = resolve('.env');
  // A folder of this name is usually a Python environment.
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  for (const [name, value] of variablesIn(path, readText(path))) process.env[name] ??= value;
}

/** One line, or a variable whose quoted value spans several lines. */
const LINE = /[^\S\n]*(?:#.*|(?:export\s+)?[A-Za-z_][\w.-]*[^\S\n]*=[^\S\n]*(?:"[^"]*"|'[^']*'|`[^`]*`)?.*)?(?:\n|$)/y;

/** Parses each variable separately: in a whole file, Node's parser silently skips invalid lines and some valid ones. */
function variablesIn(path: string, text: string): Map<string, string> {
  const variables = new Map<string, string>();
  const line = new RegExp(LINE);
  for (let start = 0; start < text.length; start = line.lastIndex) {
    line.lastIndex = start;
    const [written] = line.exec(text) ?? [];
    if (written === undefined) {
      const number = text.slice(0, start).split('\n').length;
      throw new EnvFileError(`${path}, line ${number} is neither NAME=value, a comment (#) nor empty (not shown).`);
    }
    for (const [name, value = ''] of Object.entries(parseEnv(written.trimStart()))) {
      const [, swallowed] = SWALLOWED.exec(value) ?? [];
      if (swallowed !== undefined) {
        throw new EnvFileError(
          `${path}: the value of ${name} contains the line that sets ${swallowed}. Close the quote.`,
        );
      }
      variables.set(name, value);
    }
  }
  return variables;
}

/** Points out a missing `.env` if a variable is not set: the command may be running in the wrong folder. */
export function envFileAdvice(error: unknown): string {
  const { issues } = (error ?? {}) as { issues?: unknown };
  const isLacking = Array.isArray(issues) && issues.some(({ got }: { got?: unknown }) => got === 'nothing');
  if (!isLacking || statSync(resolve('.env'), { throwIfNoEntry: false })?.isFile()) return '';
  return `\n\nThere is no .env in ${process.cwd()}. Create one (see .env.example), or run this in the worker's folder.`;
}

/** Drops the byte order mark, which would become part of the first name, and converts line ends to line feeds. */
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
