import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { startHealthServer } from '../../../src/temporal/worker/health';
import { closeAtEnd } from '../../support/clean-up';

const READY = async () => ({ ready: true, reason: 'polling' });

async function started() {
  let server: Server | undefined;
  subscribe('http.server.request.start', (message) => void ({ server } = message as { server: Server }));
  const { address, close } = await startHealthServer({ host: '127.0.0.1', port: 0 }, READY);
  closeAtEnd(close);
  const ask = (path: string, method = 'GET') => fetch(`http://${address}${path}`, { method });
  return { ask, server: () => server };
}

describe('the health endpoint', () => {
  it.each(['/healthz', '/readyz', '/elsewhere'])(
    'responds to GET and HEAD requests for %s, but no other methods',
    async (path) => {
      const { ask } = await started();
      const status = path === '/elsewhere' ? 404 : 200;
      for (const method of ['GET', 'HEAD']) expect((await ask(path, method)).status).toBe(status);
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const response = await ask(path, method);
        expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      }
    },
  );

  it('survives errors of its server, such as too many open files, which must not end the worker', async () => {
    const { ask, server } = await started();
    await ask('/healthz');
    for (const code of ['EMFILE', 'ENFILE']) server()!.emit('error', new Error(`accept ${code}`));
    expect((await ask('/healthz')).status).toBe(200);
  });
});
