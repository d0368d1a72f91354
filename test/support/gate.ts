import { connect, createServer } from 'node:net';
import { listen } from './listen';

export type Gate = Awaited<ReturnType<typeof startGate>>;

/** A port in front of a server. Closed, it refuses connections, and breaks those that stand. */
export async function startGate() {
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
    /** @param behind the port of the server behind it, on this machine. */
    leadTo: (behind: number) => {
      target = behind;
    },
    close: () => void listening.close(),
    open: async () => void (listening = await listenAt(port)),
  };
}
