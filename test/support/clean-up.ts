import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Everything that the test file has open. The last one opened is closed first. */
const open = new Set<() => Promise<void>>();

/**
 * Calls `close` at the end of the test file, even if a test fails.
 *
 * @returns a function that closes it now instead, only once
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

// Jest loads this file before each test file. The global set-up also loads it, but has no afterAll.
if (typeof afterAll === 'function') {
  const before = handles();
  afterAll(async () => {
    // A failure to close one thing must not leave the others open.
    const failures: unknown[] = [];
    for (const close of [...open].toReversed()) await close().catch((error: unknown) => failures.push(error));
    if (failures[0] instanceof Error) throw failures[0];
    await expectNoLeak(before);
  });
}

/** @throws Error that names the servers, connections and processes that were not closed */
async function expectNoLeak(before: readonly string[]): Promise<void> {
  // A closing connection needs a moment, a kept-alive one four seconds.
  for (let turn = 0; turn < 60 && handles().length > before.length; turn++) await sleep(100);
  const left = handles();
  if (left.length > before.length) throw new Error(`this test file leaves open: ${left.join(', ')}`);
}

function handles(): string[] {
  return process.getActiveResourcesInfo().filter((type) => /^(TCP|TLS|Process)/.test(type));
}
