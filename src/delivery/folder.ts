import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { type CheckoutEvent, checkoutEvent } from '../contracts/events';
import { safeErrorCode } from '../domain/presentable';
import { type Delivery, DeliveryError, type DeliveryEvent, isDeliveryError } from './delivery';

const DRAFT = '.part';

/**
 * Writes each event to a file of its own, `EVENT-ID.json`, that only its owner can read. A file appears whole or not at all,
 * and the same event again is already there, also in other words. What a crash leaves behind goes when the event is delivered again.
 */
export function createFolderDelivery({ dir }: { dir: string }): Delivery {
  return {
    async deliver(event) {
      if (!/^[A-Za-z0-9_-]{1,200}$/.test(event.id)) throw new TypeError('the event id can be no file name');
      try {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        await writeOnce(dir, event);
        return true;
      } catch (error) {
        if (isDeliveryError(error)) throw error;
        const code = safeErrorCode(error);
        throw new DeliveryError('storage', `the folder of DELIVERY_DIR can't be written: ${code ?? 'unknown'}`, {
          code,
        });
      }
    },
    close: async () => {},
  };
}

async function writeOnce(dir: string, event: DeliveryEvent): Promise<void> {
  const path = join(dir, `${event.id}.json`);
  const content = `${JSON.stringify({ id: event.id, ...event.body }, undefined, 2)}\n`;
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    // A link fails where the name is taken; a rename would replace what is there.
    await link(draft, path);
  } catch (error) {
    if (!isBeaten(error)) throw error;
    const there = await readFile(path, 'utf8');
    if (there !== content && !isSameEvent(there, event)) {
      throw new DeliveryError('conflict', `something else lies under ${event.id} in the folder of DELIVERY_DIR`);
    }
  } finally {
    await removeDrafts(dir, path);
  }
  await syncFolder(dir);
}

const fileSchema = checkoutEvent.extend({ id: z.string() });

/**
 * Time, texts and amounts of an event may differ. A file that is no event, because it is somebody else's or only half of one, is not
 * this event.
 */
function isSameEvent(there: string, { id, body }: DeliveryEvent): boolean {
  const found = fileSchema.safeParse(parsed(there)).data;
  if (!found || found.id !== id || found.type !== body.type) return false;
  const isSubject = found.data.referenceId === body.data.referenceId && found.data.orderId === body.data.orderId;
  return isSubject && keysOf(found) === keysOf(body);
}

/** Sorted: the partner may show them in another order the next time. */
function keysOf({ data }: CheckoutEvent): string {
  const keys = (data.lines ?? []).flatMap(({ productId, keys: ofLine = [] }) =>
    ofLine.map(({ id }) => JSON.stringify([productId, id])),
  );
  return keys.toSorted().join();
}

/** @returns undefined of what is no JSON: the parser's error would quote it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Another attempt at this event was faster: its file is there, and it has removed our draft. */
function isBeaten(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'EEXIST' || (code === 'ENOENT' && syscall === 'link');
}

/** Those of this event, also of an attempt that died. */
async function removeDrafts(dir: string, path: string): Promise<void> {
  const isDraft = (name: string) => name.startsWith(`${basename(path)}.`) && name.endsWith(DRAFT);
  const drafts = (await readdir(dir)).filter(isDraft);
  await Promise.all(drafts.map((name) => rm(join(dir, name), { force: true })));
}

/** Without this the file is durable and its name is not; also one that an attempt has left that died. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
