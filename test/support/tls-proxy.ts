import { connect } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import type { AddressInfo, Socket } from 'node:net';
import { closeAtEnd } from './clean-up';

/**
 * Stands before a Temporal server and speaks TLS, as the server itself does not here.
 *
 * @returns its address, by the name `localhost`.
 */
export async function startTlsProxy(serverAddress: string, options: TlsOptions): Promise<string> {
  const [host = '', port] = serverAddress.split(':');
  const sockets = new Set<Socket>();
  const server = createServer({ ALPNProtocols: ['h2'], ...options }, (client) => {
    const upstream = connect(Number(port), host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => [client, upstream].forEach((one) => one.destroy()));
    }
    client.pipe(upstream).pipe(client);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAtEnd(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `localhost:${(server.address() as AddressInfo).port}`;
}
