import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DevServer, freePort, startDevServer } from '../../support/dev-server';
import { startWorkerProcess, type WorkerProcess } from '../../support/processes';
import { startWorld, type World } from '../../support/world';
import { FLAWLESS, judge } from './judge';
import { booked, delivering, looking, placing, searching, settling, stageOf } from './moments';
import { recover, startAll, untilReached, untilSettled } from './strike';

const SETTINGS = {
  pollIntervalMs: 300,
  deadlineMs: 180_000,
  placeWithinMs: 120_000,
  settleMs: 3_000,
  replace: 'always',
} as const;

/** The partner's answer comes while nobody is there to record it. */
const answeredMeanwhile = placing('answers late', 'after', { action: { type: 'delay', ms: 700 } });

describe('a Temporal server that is struck', () => {
  const worlds: World[] = [];
  const workers: WorkerProcess[] = [];
  const servers: DevServer[] = [];
  const folders: string[] = [];

  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
    await Promise.all(worlds.map((world) => world.close()));
    for (const server of servers) server.process.kill('SIGKILL');
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  });

  async function serverOn(port: number, dbFile: string): Promise<DevServer> {
    const server = await startDevServer({ port, dbFile });
    servers.push(server);
    return server;
  }

  async function workerOf(world: World, { address }: DevServer): Promise<WorkerProcess> {
    const worker = await startWorkerProcess(world, address);
    workers.push(worker);
    return worker;
  }

  async function worldOf({ address }: DevServer): Promise<World> {
    const world = await startWorld({ worker: false, address, settings: SETTINGS, sandbox: { seed: randomUUID() } });
    worlds.push(world);
    return world;
  }

  async function databaseFile(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'fulfilment-crash-'));
    folders.push(folder);
    return join(folder, 'temporal.db');
  }

  it.concurrent(
    'by SIGKILL, and started again, lets every purchase end and none be bought twice',
    async () => {
      const [port, dbFile] = [await freePort(), await databaseFile()];
      const server = await serverOn(port, dbFile);
      const world = await worldOf(server);
      const stage = stageOf(world);
      await workerOf(world, server);
      const bought = await startAll(stage, [
        searching('hangs', { type: 'hang' }),
        placing('hangs', 'before', { action: { type: 'hang' } }),
        placing('hangs', 'after', { action: { type: 'hang' } }),
        answeredMeanwhile,
        answeredMeanwhile,
        answeredMeanwhile,
        settling('hangs', 'after', { type: 'hang' }),
        looking('hang', { type: 'hang' }),
        delivering('hang'),
        delivering('take-and-hang'),
      ]);
      await untilReached(bought);
      await killed(server);
      await serverOn(port, dbFile);

      expect(await recover(stage, bought)).toEqual([]);
      const references = bought.map(({ referenceId }) => referenceId);
      expect(await judge(world, references)).toEqual(FLAWLESS);
      expect(world.receiver.contradictions).toEqual([]);
    },
    300_000,
  );

  it.concurrent(
    'by an older copy of its database, places nothing that the newer one had placed',
    async () => {
      const [port, dbFile] = [await freePort(), await databaseFile()];
      const first = await serverOn(port, dbFile);
      const world = await worldOf(first);
      const stage = stageOf(world);
      const worker = await workerOf(world, first);
      const written = await startAll(stage, [placing('hangs', 'after', { action: { type: 'hang' }, times: 'always' })]);
      await untilReached(written);
      await worker.end('SIGKILL');
      const notYet = await startAll(stage, [booked(), booked()]);
      const copied = [...written, ...notYet];
      const known = copied.map(({ referenceId }) => referenceId);

      await killed(first);
      await copyDatabase(dbFile, `${dbFile}.old`);
      const second = await serverOn(port, dbFile);
      const another = await workerOf(world, second);
      const later = await startAll(stage, [booked()]);
      expect(await recover(stage, [...copied, ...later])).toEqual([]);
      await another.end('SIGTERM');

      await killed(second);
      await copyDatabase(`${dbFile}.old`, dbFile);
      const third = await serverOn(port, dbFile);
      await workerOf(world, third);
      // What was sold after the copy is unknown to it; a checkout that asks again gets the same order.
      const references = [...known, ...later.map(({ referenceId }) => referenceId)];
      const requests = references.map((referenceId) => world.sandbox.placeRequestsOf(referenceId));
      await world.buy({ 'demo-instant': 2 }, later[0]!.referenceId);
      const ends = await untilSettled(world, references);

      expect([...ends.values()]).toEqual(references.map(() => 'DELIVERED'));
      expect(references.map((referenceId) => world.sandbox.placeRequestsOf(referenceId))).toEqual(requests);
      expect(await judge(world, references)).toEqual(FLAWLESS);
    },
    300_000,
  );
});

async function killed({ process }: DevServer): Promise<void> {
  const exited = new Promise((resolve) => process.once('exit', resolve));
  process.kill('SIGKILL');
  await exited;
}

/** SQLite keeps what it has not yet merged beside its file. */
async function copyDatabase(from: string, to: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) {
    if (existsSync(`${from}${end}`)) await copyFile(`${from}${end}`, `${to}${end}`);
    else await rm(`${to}${end}`, { force: true });
  }
}
