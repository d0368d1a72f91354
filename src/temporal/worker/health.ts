import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { NativeConnection, Worker } from '@temporalio/worker';
import { listPollers, refusalOf } from '../client';
import { AddressError } from './address-error';

const CACHED_MS = 1_000;
/** How long a client may take to send its request. */
const REQUEST_MS = 10_000;

/** Whether the worker accepts work, and the reason. */
export interface Readiness {
  ready: boolean;
  reason: string;
}

/** Asks the server whether it sees both pollers of this worker. A worker that is stopping is not ready. */
export function readinessOf(worker: () => Worker | undefined): (now?: number) => Promise<Readiness> {
  let last: { at: number; readiness: Promise<Readiness> } | undefined;
  return async (now = performance.now()) => {
    const running = worker();
    const connection = running?.connection;
    if (!running || !connection) return { ready: false, reason: 'starting' };
    const idle = idleReason(running);
    if (idle) return { ready: false, reason: idle };
    if (!last || now - last.at > CACHED_MS) last = { at: now, readiness: askServer(running, connection) };
    return last.readiness;
  };
}

function idleReason(worker: Worker): string | undefined {
  const { runState, workflowPollerState, activityPollerState } = worker.getStatus();
  if (runState !== 'RUNNING') return `the worker is ${runState}`;
  if (workflowPollerState === 'POLLING' && activityPollerState === 'POLLING') return undefined;
  return `pollers: workflows ${workflowPollerState}, activities ${activityPollerState}`;
}

async function askServer(worker: Worker, connection: NativeConnection): Promise<Readiness> {
  const { namespace, taskQueue, identity } = worker.options;
  const ask = () => listPollers(connection.workflowService, namespace, taskQueue);
  try {
    const seen = await connection.withDeadline(Date.now() + 2_000, ask);
    const ready = seen.every((pollers) => pollers.some((poller) => poller.identity === identity));
    return { ready, reason: ready ? 'polling' : "the server does not see this worker's pollers yet" };
  } catch (error) {
    return { ready: false, reason: refusalOf(error)?.cause ?? 'Temporal does not respond' };
  }
}

/**
 * Serves `/healthz` (the process is alive) and `/readyz` (connected and polling).
 *
 * @throws AddressError if the address can't be used. The message names the variable to change.
 */
export async function startHealthServer(
  { host, port }: { host: string; port: number },
  readiness: () => Promise<Readiness>,
): Promise<{ address: string; close(): Promise<void> }> {
  const limits = { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS };
  const server = createServer(limits, (request, response) => void respond(request, response, readiness));
  await new Promise<void>((resolve, reject) => {
    // `on`, not `once`: a later error, such as having no free file descriptor, must not end the worker.
    server.on('error', ({ message }) => {
      reject(new AddressError('HEALTH_ADDRESS', `${host}:${port}`, message));
    });
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: `${bound.address}:${bound.port}`,
    async close() {
      const closed = once(server.close(), 'close');
      // A client that connected but sends nothing would keep the server open.
      server.closeAllConnections();
      await closed;
    },
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  readiness: () => Promise<Readiness>,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD', 'content-type': 'text/plain' }).end('GET and HEAD only\n');
    return;
  }
  const path = request.url?.split('?')[0];
  const known = path === '/healthz' || path === '/readyz';
  const { ready, reason } = path === '/readyz' ? await readiness() : { ready: true, reason: 'alive' };
  response.writeHead(known ? (ready ? 200 : 503) : 404, { 'content-type': 'text/plain' });
  response.end(known ? `${reason}\n` : 'use /healthz or /readyz\n');
}
