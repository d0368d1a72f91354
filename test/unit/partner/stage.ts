import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import {
  startServer,
  startTcpServer,
  type Reply,
  type ScriptedServer,
  type ScriptedServerOptions,
} from '../../support/http-server';
import { clientOf } from './fixtures';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server that answers so, gone after the test. */
export async function serverWith(reply?: Reply, options?: ScriptedServerOptions): Promise<ScriptedServer> {
  const server = await startServer(options);
  if (reply) server.script(reply);
  closers.push(server.close);
  return server;
}

export async function tcpServer(onConnection?: (socket: Socket) => void) {
  const server = await startTcpServer(onConnection);
  closers.push(server.close);
  return server;
}

/** Runs once, when undici says on its diagnostics channel that it has come so far. */
export function onceAt(channel: string, act: () => void): void {
  const listener = () => {
    unsubscribe(channel, listener);
    act();
  };
  subscribe(channel, listener);
}

/** A client that is closed after the test. */
export function client(baseUrl: string, options: Parameters<typeof clientOf>[1] = {}) {
  const made = clientOf(baseUrl, options);
  closers.push(made.close);
  return made;
}
