import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** A folder for deliveries holds keys: only its owner may enter it, and each write is synced to the disk. */
export type FolderUse = 'deliveries' | 'reports';

/**
 * Tests a folder by writing a file into it, and creates the folder first if necessary. Permissions alone do not reveal
 * a read-only file system, or a file system that can't sync folders.
 *
 * @returns undefined if the folder works; otherwise the reason, such as `EACCES at open`, and what to do.
 */
export function whyNotWritable(dir: string, use: FolderUse): { reason: string; remedy: string } | undefined {
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
        ? 'Choose a folder on a file system that can sync files and folders, such as ext4 or XFS.'
        : 'Choose another folder, or let this user write there.';
    return { reason: syscall === '' ? code : `${code} at ${syscall}`, remedy };
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

/** Node's own recursive mkdir never returns in a place where no folder can be created, such as /proc. */
function makeFolder(dir: string, mode: number): void {
  const parent = dirname(dir);
  if (!fs.existsSync(parent)) makeFolder(parent, mode);
  try {
    fs.mkdirSync(dir, { mode });
  } catch (error) {
    if (!fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
