import { connect } from 'node:net';
import type { Client } from '@temporalio/client';
import { knownFailure } from './connection-failure';
import { withTimeout } from './with-timeout';

/** How long one more try to connect may take. */
const TRY_MS = 1_000;
/** The states of a gRPC channel without a connection. */
const CONNECTING = 1;
const TRANSIENT_FAILURE = 3;
const NO_GRPC =
  'it accepts connections, but does not respond as Temporal does: it may still be starting, its TLS settings may differ ' +
  "from the client's, it is another server, or a proxy that http_proxy names is in between.";

interface GrpcConnection {
  client?: { getChannel?(): { getConnectivityState(tryToConnect: boolean): number } };
  options?: { address?: string };
}

/**
 * Why a client can't connect, in words: its own error names only a deadline. Connects once more, with plain TCP.
 *
 * @returns a sentence without its beginning; undefined if the client is connected, or if its connection does not show
 *   this.
 */
export async function diagnoseNoResponse({ connection }: Client): Promise<string | undefined> {
  const { client, options } = connection as GrpcConnection;
  const [, host, port] = /^(.+):(\d+)$/.exec(options?.address ?? '') ?? [];
  const state = client?.getChannel?.().getConnectivityState(false);
  if (host === undefined || (state !== CONNECTING && state !== TRANSIENT_FAILURE)) return undefined;
  const code = await connectOnce(host.replace(/^\[(.*)\]$/, '$1'), Number(port));
  // The client itself may still be connecting.
  if (code === undefined) return state === TRANSIENT_FAILURE ? NO_GRPC : undefined;
  return `${knownFailure(code)?.cause ?? `the connection failed (${code})`}. Is a server running at this address?`;
}

/** @returns the error code; undefined if the server accepts the connection. */
async function connectOnce(host: string, port: number): Promise<string | undefined> {
  const socket = connect({ host, port });
  try {
    const connecting = new Promise<'' | undefined>((resolve, reject) => {
      socket.once('connect', () => resolve('')).on('error', reject);
    });
    return (await withTimeout(TRY_MS, connecting)) === '' ? undefined : 'ETIMEDOUT';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'an unknown error';
  } finally {
    socket.destroy();
  }
}
