import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { closeAtEnd } from './clean-up';

/** A server that listens on the loopback interface. */
export interface Listening {
  port: number;
  /** Breaks its connections and closes it now, instead of at the end of the test file. */
  close(): Promise<void>;
}

/** @param port by default a free one */
export async function listen(server: Server, port = 0): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const close = closeAtEnd(() => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    return closed;
  });
  return { port: (server.address() as AddressInfo).port, close };
}
