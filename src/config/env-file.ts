import { statSync } from 'node:fs';
import { resolve } from 'node:path';

/** The file `.env` exists and can't be read. Exit code 78. */
class EnvFileError extends Error {
  override readonly name = 'EnvFileError';
  readonly exitCode = 78;
}

/**
 * Loads `.env` from the current directory into the environment, if the file exists. Variables that are already set win.
 *
 * @throws EnvFileError
 */
export function loadEnvFile(): void {
  const path = resolve('.env');
  // A folder of this name is a Python environment.
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  try {
    process.loadEnvFile(path);
  } catch (error) {
    const { code = 'an unknown error' } = error as NodeJS.ErrnoException;
    throw new EnvFileError(`${path} can't be read (${code}). Let this user read it, or remove it.`);
  }
}
