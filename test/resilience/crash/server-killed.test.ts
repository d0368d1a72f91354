import { existsSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { booked, delivering, faulty, placing, polling, searching, settling } from '../support/crash-points';
import { recover, referencesOf, startAll, untilReached, untilSettled } from '../support/kill';
import { auditAll, NO_FLAWS } from '../../support/audit';
import { temporaryFolder } from '../../support/clean-up';
import { type DevServer, startDevServer } from '../../support/dev-server';
import { freePort } from '../../support/free-port';
import { startReadyWorker, workerEnvOf } from '../../support/processes';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment';

const SETTINGS = {
  pollIntervalMs: 300,
  confirmWindowMs: 3_000,
  replace: 'always',
} as const;

/** The partner's response arrives while no server can record it. */
const answeredMeanwhile = placing('responds late', 'after', { action: { type: 'delay', ms: 700 } });

describe('a Temporal server that is killed', () => {
  const environmentOf = async ({ address }: DevServer) =>
    faulty(await startTestEnvironment({ worker: false, address, settings: SETTINGS }));

  const workerFor = (environment: TestEnvironment) => startReadyWorker({ env: workerEnvOf(environment) });

  it.concurrent('and restarted lets every purchase end and buys nothing twice', async () => {
    const [port, dbFile] = [await freePort(), join(temporaryFolder(), 'temporal.db')];
    const server = await startDevServer({ port, dbFile });
    const environment = await environmentOf(server);
    await workerFor(environment);
    const bought = await startAll(environment, [
      searching('hangs', { type: 'hang' }),
      placing('hangs', 'before', { action: { type: 'hang' } }),
      placing('hangs', 'after', { action: { type: 'hang' } }),
      answeredMeanwhile,
      answeredMeanwhile,
      answeredMeanwhile,
      settling('hangs', 'after', { type: 'hang' }),
      polling('hang', { type: 'hang' }),
      delivering('hang'),
      delivering('take-and-hang'),
    ]);
    await untilReached(bought);
    await server.stop('SIGKILL');
    await startDevServer({ port, dbFile });

    expect(await recover(environment, bought)).toEqual([]);
    expect(await auditAll(environment, referencesOf(bought))).toEqual(NO_FLAWS);
  });

  const [itWithFile, reason] = process.env.TEST_POSTGRESQL
    ? [it.skip, ' [its database is no file]']
    : [it.concurrent, ''];
  itWithFile(`and restarted with an older copy of its database places no order twice${reason}`, async () => {
    const [port, dbFile] = [await freePort(), join(temporaryFolder(), 'temporal.db')];
    const first = await startDevServer({ port, dbFile });
    const environment = await environmentOf(first);
    const worker = await workerFor(environment);
    const written = await startAll(environment, [
      placing('hangs', 'after', { action: { type: 'hang' }, times: 'always' }),
    ]);
    await untilReached(written);
    await worker.end('SIGKILL');
    const notYet = await startAll(environment, [booked(), booked()]);
    const copied = [...written, ...notYet];
    const known = referencesOf(copied);

    await first.stop('SIGKILL');
    await copyDatabase(dbFile, `${dbFile}.old`);
    const second = await startDevServer({ port, dbFile });
    const another = await workerFor(environment);
    const later = await startAll(environment, [booked()]);
    expect(await recover(environment, [...copied, ...later])).toEqual([]);
    await another.end('SIGTERM');

    await second.stop('SIGKILL');
    await copyDatabase(`${dbFile}.old`, dbFile);
    await startDevServer({ port, dbFile });
    await workerFor(environment);
    // The older copy does not know later purchases. A checkout that starts one again gets the same order.
    const references = [...known, ...referencesOf(later)];
    const requests = references.map((referenceId) => environment.sandbox.placeRequestsOf(referenceId));
    await environment.buy({ 'demo-instant': 2 }, later[0]!.referenceId);
    const ends = await untilSettled(environment, references);

    expect([...ends.values()]).toEqual(references.map(() => 'DELIVERED'));
    expect(references.map((referenceId) => environment.sandbox.placeRequestsOf(referenceId))).toEqual(requests);
    expect(await auditAll(environment, references)).toEqual(NO_FLAWS);
  });
});

/** SQLite keeps changes that are not merged yet in a file next to the database. */
async function copyDatabase(from: string, to: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) {
    if (existsSync(`${from}${end}`)) await copyFile(`${from}${end}`, `${to}${end}`);
    else await rm(`${to}${end}`, { force: true });
  }
}
