import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { isAdmin, serveAdmin } from './admin-routes';
import type { ActiveFault, Fault } from './faults';
import { send } from './http';
import { type LedgerOrder, type LedgerReport, reportLedger, reportOrder } from './ledger-report';
import {
  addPastOrders,
  changeOrder,
  type ManualOrder,
  type OrderChange,
  type PastOrders,
  placeManualOrder,
} from './manual-orders';
import { servePartner } from './partner-routes';
import type { LoggedRequest, RequestReport } from './request-log';
import type { FixedOptions, Settings } from './settings';
import { advance, changeSettings, createState, type SandboxState } from './state';

export type { ActiveFault, Fault, LedgerOrder, LedgerReport, Settings };

export interface SandboxOptions extends FixedOptions, Partial<Settings> {
  /** Default 0: any free port. */
  port?: number;
  /** Default 127.0.0.1. Anyone who can reach it can use the admin routes. */
  host?: string;
}

/** A running sandbox. Its methods are the admin routes without HTTP. */
export interface Sandbox {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Everything ordered, paid for and issued. With `keys`, it includes the key values. */
  ledger(options?: { keys?: boolean }): Promise<LedgerReport>;
  /** The orders of one reference with their keys. More than one order means a double purchase. */
  ordersOf(referenceId: string): Promise<LedgerOrder[]>;
  requests(): RequestReport;
  /** Number of place-order requests received with this reference. */
  placeRequestsOf(referenceId: string): number;
  log(): readonly LoggedRequest[];
  /**
   * @returns the live fault, whose `hits` counts the calls that it acted on
   * @throws BadInput
   */
  addFault(fault: Fault): ActiveFault;
  clearFaults(): void;
  /** Ages every order by `ms`. */
  advance(ms: number): void;
  /**
   * Changes the given settings.
   *
   * @returns all settings
   * @throws BadInput, in which case nothing has changed
   */
  settings(change?: Partial<Settings>): Readonly<Settings>;
  /** @throws BadInput for an invalid or rejected order */
  placeManualOrder(order: ManualOrder): Promise<LedgerOrder>;
  /** @throws BadInput */
  changeOrder(orderId: string, change: OrderChange): Promise<LedgerOrder>;
  /** @throws BadInput */
  addPastOrders(orders: PastOrders): void;
  /** Closes every connection, including hung ones, and cancels everything scheduled. */
  close(): Promise<void>;
}

/**
 * Starts a simulated partner.
 *
 * @throws BadInput for invalid options, and Node's own error (such as `EADDRINUSE`) if it can't listen
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port = 0, host = '127.0.0.1', seed, products, balance, now, ...settings } = options;
  const state = createState({ seed, products, balance, now }, settings);
  const connections = new WeakMap<Socket, number>();
  const server = createServer((request, response) => {
    serve(state, request, response, connections.get(request.socket) ?? 0).catch((error: unknown) => {
      process.stderr.write(`sandbox: internal error: ${error instanceof Error ? error.stack : String(error)}\n`);
      send(response, state.responses.error(500, 'internal', 'internal error in the sandbox'));
    });
  });
  // If an idle connection closed just as a client reused it, that would look like a fault.
  server.keepAliveTimeout = 65_000;
  server.on('connection', (socket) => {
    state.requests.connections += 1;
    connections.set(socket, state.requests.connections);
    socket.on('error', () => socket.destroy());
  });
  await once(server.listen(port, host), 'listening');
  return handle(state, server, host);
}

async function serve(
  state: SandboxState,
  request: IncomingMessage,
  response: ServerResponse,
  connection: number,
): Promise<void> {
  if (isAdmin(request.url ?? '')) return serveAdmin(state, request, response);
  try {
    await servePartner(state, request, response, connection);
  } catch (error) {
    const clientHasGone = request.destroyed && !request.complete;
    if (!clientHasGone && !state.closing.signal.aborted) throw error;
  }
}

function handle(state: SandboxState, server: Server, host: string): Sandbox {
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    ledger: ({ keys = false } = {}) => reportLedger(state, { keys }),
    ordersOf: (referenceId) =>
      Promise.all(
        state.ledger.byReference(referenceId).map((order) => reportOrder(state.ledger, order, { keys: true })),
      ),
    requests: () => state.requests.report(),
    placeRequestsOf: (referenceId) => state.requests.placedWith(referenceId),
    log: () => state.requests.log(),
    addFault: (fault) => state.faults.add(fault),
    clearFaults: () => state.faults.clear(),
    advance: (ms) => void advance(state, { advanceMs: ms }),
    settings: (change = {}) => changeSettings(state, change),
    placeManualOrder: (order) => placeManualOrder(state, order),
    changeOrder: (orderId, change) => changeOrder(state, orderId, change),
    addPastOrders: (orders) => void addPastOrders(state, orders),
    close: () => close(state, server),
  };
}

async function close(state: SandboxState, server: Server): Promise<void> {
  state.closing.abort();
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
