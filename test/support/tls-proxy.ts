import { connect } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { listen } from './listen';

/**
 * Adds TLS to a Temporal server.
 *
 * @returns its address, with the host name `localhost`.
 */
export async function startTlsProxy(serverAddress: string, options: TlsOptions): Promise<string> {
  const [host = '', port] = serverAddress.split(':');
  const server = createServer({ ALPNProtocols: ['h2'], ...options }, (client) => {
    const upstream = connect(Number(port), host);
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined);
      socket.on('close', () => [client, upstream].forEach((one) => one.destroy()));
    }
    client.pipe(upstream).pipe(client);
  });
  server.on('tlsClientError', () => undefined);
  return `localhost:${(await listen(server)).port}`;
}
