import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** A delivery syncs the folder, which only the owner may enter: it holds keys. */
export type FolderUse = 'deliveries' | 'reports';

/**
 * Writes into a folder as it will be written, and makes it first if necessary. Rights alone say nothing about read-only file
 * systems, or about those that can't sync a folder.
 *
 * @returns undefined if it can be written; else why not, such as `EACCES at open`, and what to do.
 */
export function whyNotWritable(dir: string, use: FolderUse): { why: string; remedy: string } | undefined {
  const probe = join(dir, `.${randomUUID()}.part`);
  try {
    makeFolder(resolve(dir), use === 'deliveries' ? 0o700 : 0o755);
    try {
      fs.writeFileSync(probe, '', { flag: 'wx', mode: 0o600, flush: use === 'deliveries' });
      if (use === 'deliveries') sync(dir);
    } finally {
      fs.rmSync(probe, { force: true });
    }
    return undefined;
  } catch (error) {
    const { code = 'unknown', syscall = '' } = error as NodeJS.ErrnoException;
    const remedy =
      syscall === 'fsync'
        ? 'Name one on a file system that can sync files and folders, such as ext4 or XFS.'
        : 'Name another, or let this user write there.';
    return { why: syscall === '' ? code : `${code} at ${syscall}`, remedy };
  }
}

function sync(dir: string): void {
  const folder = fs.openSync(dir, 'r');
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

/** Node's own recursive mkdir never returns where no folder can be made, such as in /proc. */
function makeFolder(dir: string, mode: number): void {
  const parent = dirname(dir);
  if (!fs.existsSync(parent)) makeFolder(parent, mode);
  try {
    fs.mkdirSync(dir, { mode });
  } catch (error) {
    if (!fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
