import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Tries to write into a folder, which is made if it is not there: only the attempt tells, because rights alone know nothing of
 * read-only file systems and of users that may do everything.
 *
 * @param mode of a folder that is made.
 * @returns why it can't be written, such as EACCES; undefined if it can.
 */
export function whyNotWritable(dir: string, mode: number): string | undefined {
  const probe = join(dir, `.${randomUUID()}.part`);
  try {
    mkdirSync(dir, { recursive: true, mode });
    writeFileSync(probe, '', { flag: 'wx', mode: 0o600 });
    rmSync(probe);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
