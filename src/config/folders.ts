import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Tries to write into a folder, which is made if it is not there: only the attempt shows it, because rights alone know nothing of
 * read-only file systems and of users that may do everything.
 *
 * @param mode of a folder that is made.
 * @returns why it can't be written, such as EACCES; undefined if it can.
 */
export function whyNotWritable(dir: string, mode: number): string | undefined {
  const probe = join(dir, `.${randomUUID()}.part`);
  try {
    makeFolder(resolve(dir), mode);
    writeFileSync(probe, '', { flag: 'wx', mode: 0o600 });
    rmSync(probe);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

/** Node's own recursive mkdir never comes back from where no folder can be made, such as /proc. */
function makeFolder(dir: string, mode: number): void {
  const parent = dirname(dir);
  if (!existsSync(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(dir, { mode });
  } catch (error) {
    if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
