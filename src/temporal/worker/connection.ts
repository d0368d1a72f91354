import { NativeConnection } from '@temporalio/worker';
import { type ConnectRetry, connectWithRetry, type TemporalTarget } from '../client';

/** Connects a worker. @throws TemporalUnreachableError, TemporalRefusedError, TemporalConfigError, StoppedError */
export function connectWorker(target: TemporalTarget, retry: ConnectRetry): Promise<NativeConnection> {
  return connectWithRetry(target, retry, () => NativeConnection.connect(target.connectionOptions));
}
