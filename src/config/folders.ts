import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** How a folder is used. */
export interface FolderUse {
  /** Of a folder that is made. */
  mode: number;
  /** Whether it is for deliveries: their files get their names by hard links, which are synced with the folder. */
  forDeliveries: boolean;
}

interface FolderProblem {
  /** Such as `EACCES at open`. */
  why: string;
  remedy: string;
}

/**
 * Tries to write into a folder as it will be written, which is made if it is not there: only the attempt shows it, because rights alone
 * know nothing of read-only file systems, of those without hard links, and of users that may do everything.
 *
 * @param link, sync of the file system.
 * @returns undefined if it can be written.
 */
export function whyNotWritable(
  dir: string,
  { mode, forDeliveries }: FolderUse,
  { link = linkSync, sync = syncFolder } = {},
): FolderProblem | undefined {
  const probe = join(dir, `.${randomUUID()}.part`);
  const linked = `${probe}.part`;
  try {
    makeFolder(resolve(dir), mode);
    try {
      writeFileSync(probe, '', { flag: 'wx', mode: 0o600, flush: forDeliveries });
      if (forDeliveries) {
        link(probe, linked);
        readdirSync(dir);
        sync(dir);
      }
    } finally {
      for (const file of [probe, linked]) rmSync(file, { force: true });
    }
    return undefined;
  } catch (error) {
    const { code = 'unknown', syscall } = error as NodeJS.ErrnoException;
    return { why: syscall === undefined ? code : `${code} at ${syscall}`, remedy: REMEDIES[syscall ?? ''] ?? LET_IN };
  }
}

const LET_IN = 'Name another, or let this user write there.';
/** By system call: network shares, exFAT and several FUSE mounts lack the one or the other. */
const REMEDIES: Readonly<Record<string, string>> = {
  link: 'Name one on a file system with hard links, such as ext4 or XFS.',
  fsync: 'Name one on a file system that can sync files and folders, such as ext4 or XFS.',
};

/** A delivery does so too: without it a file is durable and its name is not. */
function syncFolder(dir: string): void {
  const folder = openSync(dir, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
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
