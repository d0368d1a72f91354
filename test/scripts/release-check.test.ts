import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../support/clean-up';
import { startProcess } from '../support/processes';
import { freshMachine } from './machine';

const ROOT = join(__dirname, '..', '..');

/** Runs a block of days: it records the first seed, and fails or hangs if `blocks` says so. */
const FAKE_DAYS = `
import { appendFileSync, readFileSync } from 'node:fs';
const from = process.argv.at(-1);
appendFileSync(process.env.CONTROL + '/lived', from + '\\n');
const what = JSON.parse(readFileSync(process.env.CONTROL + '/blocks', 'utf8'))[from];
if (what === 'hangs') { setInterval(() => {}, 1000); }
else if (what === 'fails') {
  process.stdout.write('Seed 60 failed. To see it again\\n0 passed, 1 failed\\n');
  process.exitCode = 1;
} else process.stdout.write('1 passed, 0 failed\\n');
`;

/** A commit of a project with this project's scripts, except for the fake days. */
function project() {
  const [dir, control] = [temporaryFolder(), temporaryFolder()];
  cpSync(join(ROOT, 'scripts'), join(dir, 'scripts'), { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(ROOT, file), join(dir, file));
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'), 'junction');
  writeFileSync(join(dir, 'scripts/faults.mjs'), FAKE_DAYS);
  writeFileSync(join(dir, '.gitignore'), 'node_modules\nrelease-check/\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: dir });
  const commit = (file: string, text = '') => {
    mkdirSync(join(dir, dirname(file)), { recursive: true });
    writeFileSync(join(dir, file), text);
    git('add', '.');
    git('commit', '--quiet', '--message', file);
  };
  git('init', '--quiet');
  commit('docs/performance.md', '<!-- release check: written -->\n\n\n\n<!-- end of release check -->\n');
  const plan = (blocks: Record<string, 'fails' | 'hangs'>) => {
    writeFileSync(join(control, 'lived'), '');
    writeFileSync(join(control, 'blocks'), JSON.stringify(blocks));
  };
  plan({});
  return {
    dir,
    /** Commits an empty new file. */
    commit,
    /** What the blocks with these first seeds do from now on; all others pass. */
    plan,
    /** The first seeds of the blocks that were run since the last plan. */
    lived: () => readFileSync(join(control, 'lived'), 'utf8').trim().split('\n').filter(Boolean),
    start: (...args: string[]) =>
      startProcess(join(dir, 'scripts/run.mjs'), ['release-check', ...args], { env: { CONTROL: control } }),
  };
}

describe('npm run release:check', () => {
  test('rejects a tree that differs from the commit and names the file, but ignores the results that suites write', async () => {
    const { dir, start, lived } = project();
    writeFileSync(join(dir, 'new.ts'), '');
    cpSync(join(ROOT, 'bench/results/recovery.json'), join(dir, 'bench/results/recovery.json'));
    const { code, stderr } = await start('--only', 'days').ended;
    expect(code).toBe(1);
    expect(stderr).toContain('?? new.ts');
    expect(stderr).not.toContain('bench');
    expect(lived()).toEqual([]);
  });

  test('continues after a failed block, and a second call repeats only that block', async () => {
    const { dir, start, plan, lived } = project();
    plan({ 51: 'fails' });
    const red = await start('--only', 'days').ended;
    expect(red.code).toBe(1);
    expect(red.stdout).toMatch(/\| days +\| .* \| .* \| 999 +\| \*\*1\*\* +\| 0 /);
    expect(red.stderr).toContain('Seed 60 failed');
    expect(lived()).toHaveLength(20);

    plan({});
    const green = await start('--only', 'days').ended;
    expect(green.code).toBe(0);
    expect(green.stdout).toMatch(/\| days +\| .* \| .* \| 1000 +\| 0 +\| 0 /);
    expect(lived()).toEqual(['51']);
    const page = readFileSync(join(dir, 'docs/performance.md'), 'utf8');
    expect(page).toContain(green.stdout.slice(green.stdout.indexOf('| suite')).trim());
  });

  test('a commit of documents keeps the results, and a commit of code starts over', async () => {
    const { commit, start, lived, plan } = project();
    expect((await start('--only', 'days').ended).code).toBe(0);
    plan({});
    commit('docs/security.md');
    expect((await start('--only', 'days').ended).code).toBe(0);
    expect(lived()).toEqual([]);

    commit('src/new.ts');
    expect((await start('--only', 'days').ended).code).toBe(0);
    expect(lived()).toHaveLength(20);
  });

  test('continues where a signal interrupted it', async () => {
    const { start, plan, lived } = project();
    plan({ 101: 'hangs' });
    const first = start('--only', 'days');
    await first.said('(101-150) …');
    first.signal('SIGTERM');
    const { code, stderr } = await first.ended;
    expect({ code, stderr }).toEqual({ code: 143, stderr: expect.stringContaining('to continue from here') });

    plan({});
    expect((await start('--only', 'days').ended).code).toBe(0);
    expect(lived().slice(0, 2)).toEqual(['101', '151']);
  });
});

describe('the results of a suite', () => {
  async function call(module: string, fn: string, ...args: unknown[]): Promise<unknown> {
    const { code, stdout, stderr } = await (await freshMachine()).call(module, fn, { args }).ended;
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  }

  test.each<[string, string, object]>([
    ['readChecks', '4 of 6 checks passed; failed: lint, docs:check\n', { passed: 4, failed: 2, skipped: [] }],
    ['readMutants', 'killed    1/2  a: b\n9 killed, 1 survived\n', { passed: 9, failed: 1, skipped: [] }],
    [
      'readTests',
      'skipped: alerts fire [no promtool here]\n7 passed, 1 failed, 1 skipped\n\n2 passed, 0 failed\n',
      { passed: 9, failed: 1, skipped: ['no promtool here'] },
    ],
    ['readTests', 'an error before any test\n', { passed: 0, failed: 0, skipped: [] }],
  ])('%s reads its counts and reasons from its output', async (fn, output, counts) => {
    expect(await call('release-steps.mjs', fn, output)).toEqual(counts);
  });

  test.each<[string, { passed: number; failed: number; skipped: string[] }, number, number]>([
    ['tests that passed', { passed: 3, failed: 0, skipped: [] }, 0, 0],
    ['tests with two failures', { passed: 3, failed: 2, skipped: [] }, 1, 2],
    ['tests that passed in a process that failed', { passed: 3, failed: 0, skipped: [] }, 1, 1],
    ['a run that counted nothing, although it says that all is well', { passed: 0, failed: 0, skipped: [] }, 0, 1],
    ['a run whose only test this machine cannot run', { passed: 0, failed: 0, skipped: ['no promtool here'] }, 1, 0],
    ['the same run, but killed', { passed: 0, failed: 0, skipped: ['no promtool here'] }, 137, 1],
  ])('%s', async (_, counts, exitCode, failures) => {
    expect(await call('release-record.mjs', 'failuresIn', counts, exitCode)).toBe(failures);
  });

  test('the table shows what was not run, is unfinished or cannot run here, and the reasons for skipped tests', async () => {
    const at = { startedAt: '2026-11-23T20:52:01.000Z', endedAt: '2026-11-23T21:04:59.000Z', exitCode: 0, failed: 0 };
    const steps = {
      test: { wanted: 1, parts: { all: { ...at, passed: 900, skipped: ['no Python here', 'no Python here'] } } },
      days: { wanted: 20, parts: { '1-50': { ...at, passed: 50, skipped: [] } } },
      compose: { wanted: 1, parts: {}, lacks: 'no container engine' },
    };
    const table = await call('release-record.mjs', 'tableOf', steps, ['verify', 'test', 'days', 'compose']);
    const rows = String(table)
      .split('\n')
      .map((row) => row.replaceAll(/ +/g, ' '));
    expect(rows.slice(2)).toEqual([
      '| verify | not run | | | | |',
      '| test | 2026-11-23T20:52 | 2026-11-23T21:04 | 900 | 0 | 2: no Python here |',
      '| days | 2026-11-23T20:52 | 1 of 20 parts so far | 50 | 0 | 0 |',
      '| compose | | | | | all: no container engine |',
    ]);
  });
});
