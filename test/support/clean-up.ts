import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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
  const before = handles();
  afterAll(async () => {
    // What can't be closed keeps nothing else open.
    const failures: unknown[] = [];
    for (const close of [...open].toReversed()) await close().catch((error: unknown) => failures.push(error));
    if (failures[0] instanceof Error) throw failures[0];
    await expectNoLeak(before);
  }, 120_000);
}

/** @throws Error that names the servers, connections and processes that nobody has closed */
async function expectNoLeak(before: readonly string[]): Promise<void> {
  // A connection that was let go needs a moment, and one that is kept alive four seconds.
  for (let turn = 0; turn < 60 && handles().length > before.length; turn++) await sleep(100);
  const left = handles();
  if (left.length > before.length) throw new Error(`this test file leaves open: ${left.join(', ')}`);
}

function handles(): string[] {
  return process.getActiveResourcesInfo().filter((type) => /^(TCP|TLS|Process)/.test(type));
}
