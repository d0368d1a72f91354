import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the test file has open: what was opened last is closed first. */
const open = new Set<() => Promise<void>>();

/**
 * Closes something at the end of the test file, also when a test has failed in the middle of it.
 *
 * @returns closes it now, and not a second time at the end.
 */
export function closeAtEnd(close: () => unknown): () => Promise<void> {
  let closing: Promise<unknown> | undefined;
  const closeOnce = async (): Promise<void> => {
    open.delete(closeOnce);
    await (closing ??= Promise.resolve(close()));
  };
  open.add(closeOnce);
  return closeOnce;
}

/** A new folder, removed at the end of the test file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fulfilment-test-'));
  closeAtEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// Jest loads this file before each test file; what starts Temporal for all of them has no such end.
if (typeof afterAll === 'function') {
  afterAll(async () => {
    for (const close of [...open].toReversed()) await close();
  }, 120_000);
}
