import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { isAdmin, serveAdmin } from './admin-routes';
import { booked, readBooks, type BookedOrder, type Books } from './books';
import { send } from './fault-wire';
import type { ActiveFault, Fault } from './faults';
import { addPast, changeOrder, placeByHand, type HandOrder, type OrderChange, type PastOptions } from './hand';
import { servePartner } from './partner-routes';
import type { LoggedRequest, RequestReport } from './request-log';
import type { Settings } from './settings';
import { advance, changeSettings, makeWorld, type World, type WorldOptions } from './world';

export { SCENARIO_IDS } from './scenarios';
export type { ActiveFault, BookedOrder, Books, Fault, HandOrder, LoggedRequest, OrderChange, RequestReport, Settings };

export interface SandboxOptions extends WorldOptions, Partial<Settings> {
  /** Default 0: one that is free. */
  port?: number;
  /** Default 127.0.0.1. Whoever can reach it can use the admin routes. */
  host?: string;
}

/** A running sandbox. What it offers is what the admin routes offer, without HTTP. */
export interface Sandbox {
  /** Base URL without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** What was really ordered, paid and issued; with `keys`, the key values too. */
  books(options?: { keys?: boolean }): Promise<Books>;
  /** The booked orders of one reference, keys included; more than one was bought more than once. */
  ordersOf(referenceId: string): Promise<BookedOrder[]>;
  requests(): RequestReport;
  /** How many place-orders with this reference have been read. */
  placeRequestsOf(referenceId: string): number;
  log(): readonly LoggedRequest[];
  /** @returns the live fault: its `hits` grow as it acts. @throws BadInput */
  addFault(fault: Fault): ActiveFault;
  clearFaults(): void;
  /** Makes every order so much older. */
  advance(ms: number): void;
  /** Changes the settings that are given. @returns all of them. @throws BadInput, and then none has changed */
  settings(change?: Partial<Settings>): Readonly<Settings>;
  /** @throws BadInput for an order that is wrong or refused */
  placeByHand(order: HandOrder): Promise<BookedOrder>;
  /** @throws BadInput */
  changeOrder(orderId: string, change: OrderChange): Promise<BookedOrder>;
  /** @throws BadInput */
  addPast(past: PastOptions): void;
  /** Ends every connection, the hung ones too, and everything that was still to come. */
  close(): Promise<void>;
}

/**
 * Starts a pretend partner.
 * @throws BadInput for wrong options, and Node's own error (`EADDRINUSE`…) where it can't listen
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port = 0, host = '127.0.0.1', seed, products, balance, now, ...settings } = options;
  const world = makeWorld({ seed, products, balance, now }, settings);
  const sockets = new Map<Socket, number>();
  const server = createServer((request, response) => {
    serve(world, request, response, sockets.get(request.socket) ?? 0).catch((error: unknown) => {
      process.stderr.write(`sandbox: an error of its own: ${error instanceof Error ? error.stack : String(error)}\n`);
      send(response, world.answers.error(500, 'internal', 'the sandbox itself went wrong'));
    });
  });
  // A client that sends its next request in the moment an idle connection is closed would see a fault nobody scripted.
  server.keepAliveTimeout = 65_000;
  server.on('connection', (socket) => {
    world.requests.connections += 1;
    sockets.set(socket, world.requests.connections);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  await listening(server, port, host);
  return handle(world, server, sockets, host);
}

async function serve(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  connection: number,
): Promise<void> {
  if (isAdmin(request.url ?? '')) return serveAdmin(world, request, response);
  try {
    await servePartner(world, request, response, connection);
  } catch (error) {
    const clientHasGone = request.destroyed && !request.complete;
    if (!clientHasGone) throw error;
  }
}

function handle(world: World, server: Server, sockets: Map<Socket, number>, host: string): Sandbox {
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    books: ({ keys = false } = {}) => readBooks(world, keys),
    ordersOf: (referenceId) =>
      Promise.all(world.ledger.byReference(referenceId).map((order) => booked(world, order, true))),
    requests: () => world.requests.report(),
    placeRequestsOf: (referenceId) => world.requests.placedWith(referenceId),
    log: () => world.requests.log(),
    addFault: (fault) => world.faults.add(fault),
    clearFaults: () => world.faults.clear(),
    advance: (ms) => advance(world, ms),
    settings: (change = {}) => changeSettings(world, change),
    placeByHand: (order) => placeByHand(world, order),
    changeOrder: (orderId, change) => changeOrder(world, orderId, change),
    addPast: (past) => void addPast(world, past),
    close: () => closed(world, server, sockets),
  };
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closed(world: World, server: Server, sockets: Map<Socket, number>): Promise<void> {
  world.timers.stopAll();
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets.keys()) socket.destroy();
  });
}
