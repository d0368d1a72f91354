import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { closeAtEnd } from './clean-up';

/** A port in front of a server. Closed, it refuses connections, and breaks those that stand. */
export interface Gate {
  url: string;
  /** @param port of the server behind it, on this machine. */
  leadTo(port: number): void;
  close(): void;
  open(): Promise<void>;
}

export async function startGate(): Promise<Gate> {
  const sockets = new Set<Socket>();
  let target = 0;
  let server: Server;
  const listen = async (port: number) => {
    server = createServer((socket) => {
      const behind = connect(target, '127.0.0.1');
      for (const [one, other] of [
        [socket, behind],
        [behind, socket],
      ] as const) {
        sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  closeAtEnd(async () => close());
  return {
    url: `http://127.0.0.1:${port}`,
    leadTo: (behind) => {
      target = behind;
    },
    close,
    open: async () => void (await listen(port)),
  };
}
