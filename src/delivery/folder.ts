import { randomUUID } from 'node:crypto';
import { access, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { safeErrorCode } from '../domain/safe-values';
import { type EventSender, DeliveryError, type DeliveryEvent } from './event-sender';

const DRAFT = '.part';

/**
 * Writes each event atomically to its own file, `EVENT-ID.json`, with mode 0600. A repeated event replaces its file,
 * which has the same keys.
 */
export function createFolderSender({ dir }: { dir: string }): EventSender {
  return {
    async deliver(event, withinMs = Infinity) {
      if (withinMs <= 0) throw new DeliveryError('timeout', 'the attempt took too long to write the event');
      if (!/^[A-Za-z0-9_-]{1,200}$/.test(event.id)) throw new TypeError('the event id is not a valid file name');
      try {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        await writeEventFile(dir, event);
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

async function writeEventFile(dir: string, { id, body }: DeliveryEvent): Promise<void> {
  const path = join(dir, `${id}.json`);
  const prefix = draftPrefix(id);
  const draft = join(dir, `${prefix}${randomUUID()}${DRAFT}`);
  try {
    const content = `${JSON.stringify({ id, ...body }, undefined, 2)}\n`;
    await writeFile(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    await rename(draft, path).catch(async (error: NodeJS.ErrnoException) => {
      // The draft is gone. Unless a parallel attempt has written the file, another program took the draft.
      if (error.code !== 'ENOENT') throw error;
      await access(path);
    });
  } finally {
    await rm(draft, { force: true });
  }
  await removeDrafts(dir, prefix);
  await syncFolder(dir);
}

/** A draft's name begins with a dot, so that a program that reads `*` in the folder ignores it. */
function draftPrefix(id: string): string {
  return `.${id}.json.`;
}

/** Removes drafts of this event that killed attempts left behind, because they contain keys. */
async function removeDrafts(dir: string, prefix: string): Promise<void> {
  const isDraft = (name: string) => name.startsWith(prefix) && name.endsWith(DRAFT);
  const drafts = (await readdir(dir)).filter(isDraft);
  await Promise.all(drafts.map((name) => rm(join(dir, name), { force: true })));
}

/** Without this, the file's content is durable, but its name is not. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
