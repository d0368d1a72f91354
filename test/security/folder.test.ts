import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findLeaks } from './support/search';
import { startStage } from './support/stage';
import { startWorkerProcess } from './support/worker-process';

jest.setTimeout(120_000);

it('events in a folder can be read by their owner alone, whatever the umask of the worker is', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'leaks-'));
  const stage = await startStage(process.env.TEST_TEMPORAL_ADDRESS!);
  const { DELIVERY_URL: _url, DELIVERY_SECRET: _secret, ...env } = stage.env;
  const deliveries = join(dir, 'deliveries');
  const worker = await startWorkerProcess({ ...env, DELIVERY_DIR: deliveries }, { umask: 0 });
  try {
    await stage.starter.result(await stage.buy({ name: 'folder' }));

    const files = readdirSync(deliveries).map((name) => join(deliveries, name));
    const text = files.map((file) => readFileSync(file, 'utf8')).join();
    const keys = (await stage.issuedKeys()).map((value) => ({ name: 'key', value }));
    expect(findLeaks(keys, [{ place: 'folder', text }])).not.toEqual([]);
    expect(files.map((file) => (statSync(file).mode & 0o777).toString(8))).toEqual(['600']);
    expect((statSync(deliveries).mode & 0o777).toString(8)).toBe('700');
  } finally {
    await worker.stop();
    await stage.close();
    rmSync(dir, { recursive: true });
  }
});
