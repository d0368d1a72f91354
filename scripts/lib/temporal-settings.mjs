import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

/**
 * Loads the `TEMPORAL_` variables from `.env` in the current directory, as the programs do, so that Temporal's CLI talks
 * to the same server. It gets no other variable, because they contain secrets. Variables that are set win.
 */
export function loadTemporalSettings() {
  for (const [name, value = ''] of Object.entries(variablesIn(resolve('.env'))))
    if (name.startsWith('TEMPORAL_') && value !== '') process.env[name] ??= value;
  // Only this project knows the variable with the file.
  const { TEMPORAL_API_KEY: key, TEMPORAL_API_KEY_FILE: file } = process.env;
  if (file && !key) process.env.TEMPORAL_API_KEY = read(resolve(file)).replace(/[\r\n]+$/, '');
}

/** @type {(path: string) => NodeJS.Dict<string>} */
function variablesIn(path) {
  // A folder of this name is a Python environment.
  const isFile = attempt(path, () => statSync(path, { throwIfNoEntry: false })?.isFile());
  if (!isFile) return {};
  // After an indented comment or a line of spaces, Node's parser skips a variable.
  return parseEnv(
    read(path)
      .replace(/^\uFEFF/, '')
      .replaceAll(/^[^\S\n]+/gm, ''),
  );
}

/** @type {(path: string) => string} */
function read(path) {
  return attempt(path, () => readFileSync(path, 'utf8'));
}

/** @type {<T>(path: string, work: () => T) => T} */
function attempt(path, work) {
  try {
    return work();
  } catch (error) {
    throw new Error(`${path} can't be read (${error.code}). Let this user read it, or remove it.`);
  }
}
