import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { safeErrorCode } from '../domain/presentable';
import { type Delivery, DeliveryError, type DeliveryEvent } from './delivery';

const DRAFT = '.part';

/**
 * Writes each event to a file of its own, `EVENT-ID.json`, that only its owner can read. A file appears whole or not at all. The same
 * event again replaces its file: it holds the same keys, perhaps with another time.
 */
export function createFolderDelivery({ dir }: { dir: string }): Delivery {
  return {
    async deliver(event) {
      if (!/^[A-Za-z0-9_-]{1,200}$/.test(event.id)) throw new TypeError('the event id can be no file name');
      try {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        await writeWhole(dir, event);
        return true;
      } catch (error) {
        const code = safeErrorCode(error);
        const message = `the folder of DELIVERY_DIR can't be written: ${code ?? 'unknown'}`;
        throw new DeliveryError('storage', message, { code });
      }
    },
    close: async () => {},
  };
}

async function writeWhole(dir: string, { id, body }: DeliveryEvent): Promise<void> {
  const path = join(dir, `${id}.json`);
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    const content = `${JSON.stringify({ id, ...body }, undefined, 2)}\n`;
    await writeFile(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    await rename(draft, path).catch((error: NodeJS.ErrnoException) => {
      // Another attempt at this event was faster: its file is there, and it has removed our draft.
      if (error.code !== 'ENOENT') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  await removeDrafts(dir, path);
  await syncFolder(dir);
}

/** Drafts of this event that attempts have left which died. They hold keys. */
async function removeDrafts(dir: string, path: string): Promise<void> {
  const isDraft = (name: string) => name.startsWith(`${basename(path)}.`) && name.endsWith(DRAFT);
  const drafts = (await readdir(dir)).filter(isDraft);
  await Promise.all(drafts.map((name) => rm(join(dir, name), { force: true })));
}

/** Without this the file is durable and its name is not. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
