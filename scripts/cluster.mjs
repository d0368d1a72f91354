import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LEFT_OUT } from '../test/cluster/left-out.mjs';
import { withPart } from './lib/generated-part.mjs';
import { runJest } from './lib/jest.mjs';
import { log } from './lib/log.mjs';
import { projectRoot } from './lib/paths.mjs';
import { ensurePostgreSql } from './lib/postgresql.mjs';
import { run } from './lib/run.mjs';
import { ensureTemporalServer } from './lib/temporal-server.mjs';

/**
 * `npm run test:cluster`: runs the tests that need a Temporal server on the production server, with PostgreSQL and the files
 * of `ops/temporal`. docs/performance.md keeps the figures of the trials.
 *
 *     (no option)    the suite, 20 seeded bad days, and the trials under load
 *     --suite        only the end-to-end suite, or only the tests under the paths that follow
 *     --days N       only N bad days; --from S sets the first seed (default: 1)
 *     --faults       only the fault matrix
 *     --trials       only the trials under load
 *     --capacity     only the capacity measurement; `npm run docs` writes it into docs/performance.md
 */
const flag = /** @type {const} */ ({ type: 'boolean' });
const text = /** @type {const} */ ({ type: 'string' });
const { values, positionals } = parseArgs({
  options: { suite: flag, days: text, from: text, faults: flag, trials: flag, capacity: flag },
  allowPositionals: true,
});
const whole = Object.keys(values).length === 0;
const days = values.days ?? '20';
const first = Number(values.from ?? 1);

const folder = await mkdtemp(join(tmpdir(), 'fulfilment-cluster-'));
process.env.TEMPORAL_SERVER = await ensureTemporalServer();
process.env.POSTGRES_BIN = await ensurePostgreSql();
const machine = await describeMachine();
log(machine);

/** @type {boolean[]} */
const results = [];
try {
  if (whole || values.suite) {
    const left = LEFT_OUT.map(([file]) => `--testPathIgnorePatterns=${file}`);
    const paths = positionals.length > 0 ? positionals : ['test/scenarios', 'test/resilience', 'test/security'];
    // Paths must come first; otherwise Jest takes them for further ignore patterns.
    await part('suite', [...paths, '--maxWorkers=2', ...left]);
    log(`Left out:\n${LEFT_OUT.map(([file, reason]) => `  ${file}: ${reason}`).join('\n')}`);
  }
  if (whole || values.days) {
    // Each day starts its own server, so a small machine can't run many at once.
    Object.assign(process.env, { BAD_DAYS_SEEDS: days, BAD_DAYS_FROM: String(first), BAD_DAYS_AT_ONCE: '3' });
    await part('days', ['--runInBand', '--testMatch', '**/bad-days/*.faults.ts']);
  }
  if (values.faults) await part('faults', ['--runInBand', '--testMatch', '**/fault-matrix/*.faults.ts']);
  if (whole || values.trials) {
    // This part also repeats the scripts that set up a cluster.
    await part('trials', ['--runInBand', '--testMatch', '**/cluster/{set-up,under-load}.cluster.ts'], 'own');
  }
  if (values.capacity) {
    Object.assign(process.env, { TEST_CLUSTER: 'own', TEST_CLUSTER_MACHINE: machine });
    results.push((await runJest(['--runInBand', '--testMatch', '**/cluster/capacity.cluster.ts'])) === 0);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = results.every(Boolean) ? 0 : 1;

/**
 * Runs the tests of a part and reports the outcome.
 *
 * @param {string} name
 * @param {string[]} args
 * @param {'shared' | 'own'} [cluster] whether its tests share one PostgreSQL or start their own
 */
async function part(name, args, cluster = 'shared') {
  const outcome = join(folder, `${name}.json`);
  const figures = join(folder, `${name}.figures`);
  Object.assign(process.env, { TEST_CLUSTER: cluster, TEST_CLUSTER_FIGURES: figures });
  const begun = Date.now();
  const code = await runJest([...args, '--json', '--outputFile', outcome]);
  results.push(code === 0);
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(await readFile(outcome, 'utf8'));
  const minutes = ((Date.now() - begun) / 60_000).toFixed(1);
  const counts = `${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped, in ${minutes} minutes`;
  await report(name, [
    `${code === 0 ? 'Green' : '**Red**'}: ${name === 'days' ? `${days} days from seed ${first}; ` : ''}${counts}.`,
    `${new Date().toISOString().slice(0, 10)}, ${machine}; load average ${loadavg()[1]?.toFixed(1)}.`,
    ...(await figuresOf(figures)),
  ]);
}

/** @type {(name: string, lines: string[]) => Promise<void>} docs/performance.md keeps the figures of the trials */
async function report(name, lines) {
  log(`\n${name}: ${lines.join('\n')}\n`);
  if (name !== 'trials') return;
  const path = join(projectRoot, 'docs/performance.md');
  await writeFile(path, withPart(await readFile(path, 'utf8'), name, lines.join('\n\n')));
}

/** @type {(file: string) => Promise<string[]>} a table with a column for each test that wrote figures */
async function figuresOf(file) {
  const written = await readFile(file, 'utf8').catch(() => '');
  if (!written) return [];
  /** @type {{ title: string, figures: [string, string | number][] }[]} */
  const columns = written
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const names = columns[0]?.figures.map(([name]) => name) ?? [];
  const cells = [
    ['', ...columns.map(({ title }) => title)],
    ['---', ...columns.map(() => '---:')],
    ...names.map((name, row) => [name, ...columns.map(({ figures }) => String(figures[row]?.[1]))]),
  ];
  return [cells.map((row) => `| ${row.join(' | ')} |`).join('\n')];
}

async function describeMachine() {
  const { TEMPORAL_SERVER = '', POSTGRES_BIN = '' } = process.env;
  const server = await run(TEMPORAL_SERVER, ['--version']);
  const postgresql = await run(join(POSTGRES_BIN, 'postgres'), ['--version']);
  const version = (/** @type {string} */ said) => /\d+(\.\d+)+/.exec(said)?.[0];
  const [cpu] = cpus();
  return [
    `Temporal server ${version(server)}, PostgreSQL ${version(postgresql)}, Node ${process.versions.node}`,
    `${cpus().length} cores (${cpu?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release()}`,
  ].join('; ');
}
