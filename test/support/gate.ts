import { connect, createServer } from 'node:net';
import { listen } from './listen';

/** A port in front of a server. Closed, it refuses connections, and breaks those that stand. */
export interface Gate {
  url: string;
  /** @param port of the server behind it, on this machine. */
  leadTo(port: number): void;
  close(): void;
  open(): Promise<void>;
}

export async function startGate(): Promise<Gate> {
  let target = 0;
  const listenAt = (port?: number) =>
    listen(
      createServer((socket) => {
        const behind = connect(target, '127.0.0.1');
        behind.on('error', () => socket.destroy());
        behind.on('close', () => socket.destroy());
        socket.on('close', () => behind.destroy());
        socket.pipe(behind).pipe(socket);
      }),
      port,
    );
  let listening = await listenAt();
  const { port } = listening;
  return {
    url: `http://127.0.0.1:${port}`,
    leadTo: (behind) => {
      target = behind;
    },
    close: () => void listening.close(),
    open: async () => void (listening = await listenAt(port)),
  };
}
