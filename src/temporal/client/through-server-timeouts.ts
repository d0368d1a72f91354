import { setTimeout as sleep } from 'node:timers/promises';
import { GRPC_STATUS, grpcErrorOf } from './grpc-error';

const AGAIN_AFTER_MS = 1_000;

/** Asks again, every second, as long as a server in trouble answers that it found no time for a call. */
export async function throughServerTimeouts<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isServerTimeout(error)) throw error;
      await sleep(AGAIN_AFTER_MS);
    }
  }
}

/** A deadline that the caller has set ends with other words. */
function isServerTimeout(error: unknown): boolean {
  const said = grpcErrorOf(error);
  return said?.code === GRPC_STATUS.DEADLINE_EXCEEDED && !said.details.startsWith('Deadline exceeded');
}
