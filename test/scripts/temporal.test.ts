import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/clean-up';
import { type ProcessEnv, startProcess } from '../support/processes';
import { writeExecutable } from './machine';

const SCRIPT = join(__dirname, '..', '..', 'scripts', 'run.mjs');

/** Runs `npm run temporal` in a folder, with a CLI that prints its arguments and the variables that it gets. */
async function runIn(folder: string, env: ProcessEnv = {}) {
  const cli = await writeExecutable(join(folder, 'temporal'), `echo "Server 1.29.1 $*"; env`);
  const args = ['temporal', 'operator', 'namespace', 'describe'];
  const running = startProcess(SCRIPT, args, {
    cwd: folder,
    env: { TEMPORAL_CLI: cli, PATH: process.env.PATH, ...env },
  });
  const { code, stdout, stderr } = await running.ended;
  return { code, stderr, lines: stdout.split('\n') };
}

describe('npm run temporal', () => {
  it('asks the server that .env names, with the key from a file, and gets no secret of the partner', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'key'), 'the-temporal-key\n');
    const text =
      '  # ours\nTEMPORAL_ADDRESS=temporal.example:7233\n \r\nTEMPORAL_API_KEY_FILE=key\nTEMPORAL_TLS=\nPARTNER_API_KEY=secret\n';
    writeFileSync(join(folder, '.env'), `\uFEFF${text}`);
    const { code, lines } = await runIn(folder);
    expect(code).toBe(0);
    expect(lines).toContain('Server 1.29.1 operator namespace describe');
    expect(lines).toContain('TEMPORAL_ADDRESS=temporal.example:7233');
    expect(lines).toContain('TEMPORAL_API_KEY=the-temporal-key');
    expect(lines.filter((line) => /PARTNER|TEMPORAL_TLS/.test(line))).toEqual([]);
  });

  it('prefers variables that are set, and needs no .env', async () => {
    const folder = temporaryFolder();
    const own = { TEMPORAL_ADDRESS: 'own.example:7233', TEMPORAL_API_KEY: 'own-key', TEMPORAL_API_KEY_FILE: 'nowhere' };
    expect((await runIn(folder, own)).lines).toContain('TEMPORAL_ADDRESS=own.example:7233');
    writeFileSync(join(folder, '.env'), 'TEMPORAL_ADDRESS=temporal.example:7233\n');
    const { lines } = await runIn(folder, own);
    expect(lines).toContain('TEMPORAL_ADDRESS=own.example:7233');
    expect(lines).toContain('TEMPORAL_API_KEY=own-key');
    const python = temporaryFolder();
    mkdirSync(join(python, '.env'));
    expect((await runIn(python)).code).toBe(0);
  });

  it.each<[string, (folder: string) => void, RegExp]>([
    [
      '.env',
      (folder) => symlinkSync('.env', join(folder, '.env')),
      /\/\.env can't be read \(ELOOP\)\. Let this user read/,
    ],
    [
      'the file of the key',
      (folder) => writeFileSync(join(folder, '.env'), 'TEMPORAL_API_KEY_FILE=missing\n'),
      /\/missing can't be read \(ENOENT\)/,
    ],
  ])('says so and runs nothing if %s cannot be read', async (_, prepare, message) => {
    const folder = temporaryFolder();
    prepare(folder);
    const { code, stderr, lines } = await runIn(folder);
    expect([code, lines]).toEqual([1, ['']]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
