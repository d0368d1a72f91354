import { connect, createServer } from 'node:net';
import { listen } from './listen';

export type Gate = Awaited<ReturnType<typeof startGate>>;

/** A TCP proxy in front of a server. When closed, it refuses new connections and breaks existing ones. */
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
    /** @param behind the local port of the server behind it. */
    leadTo: (behind: number) => {
      target = behind;
    },
    close: () => void listening.close(),
    open: async () => void (listening = await listenAt(port)),
  };
}
