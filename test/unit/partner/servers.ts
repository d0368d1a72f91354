import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Reply, type ScriptedServer, type ScriptedServerOptions, startServer } from '../../support/http-server';

/** A server that answers so. */
export async function serverWith(reply?: Reply, options?: ScriptedServerOptions): Promise<ScriptedServer> {
  const server = await startServer(options);
  if (reply) server.script(reply);
  return server;
}

/** Runs once, when Node or undici says on a diagnostics channel that it has come so far. */
export function onceAt(channel: string, act: (message: unknown) => void): void {
  const listener = (message: unknown) => {
    unsubscribe(channel, listener);
    act(message);
  };
  subscribe(channel, listener);
}
