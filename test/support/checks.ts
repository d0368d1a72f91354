import { changedEvents } from './audit';
import type { TestEnvironment } from './test-environment';

/** What something fails with, or undefined. */
export function rejectionOf<E = Error>(work: Promise<unknown>): Promise<E | undefined> {
  return work.then(
    () => undefined,
    (error: E) => error,
  );
}

/** One order from one request, and the checkout has each of its keys once. */
export async function expectDeliveredOnce(env: TestEnvironment, referenceId: string, keys: number): Promise<void> {
  const { orderCount, requests, issued, received } = await env.audit(referenceId);
  expect({ orderCount, requests }).toEqual({ orderCount: 1, requests: 1 });
  expect(received).toEqual(issued);
  expect(received).toHaveLength(keys);
}

/** At the end: no event ever came with other keys under its id, and no key with another value, whichever tests ran. */
export function expectNoChangedEvents(env: TestEnvironment): void {
  afterAll(() => {
    expect(env.receiver.attempts).not.toEqual([]);
    expect(changedEvents(env.receiver)).toEqual([]);
  });
}
