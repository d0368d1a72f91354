import { transformFileSync } from '@swc/core';
import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { closeAtEnd, temporaryFolder } from '../../support/clean-up';
import { start } from './support';

const root = resolve(__dirname, '../../..');
const built = temporaryFolder();

beforeAll(() => {
  const source = join(root, 'src/sandbox');
  const options = {
    module: { type: 'commonjs' },
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  } as const;
  for (const file of readdirSync(source)) {
    const { code } = transformFileSync(join(source, file), { ...options, swcrc: false });
    writeFileSync(join(built, file.replace(/\.ts$/, '.js')), code);
  }
});

interface Run {
  child: ChildProcess;
  stdout: () => string;
  ended: Promise<{ exitCode: number | null; stderr: string }>;
}

function run(env: Record<string, string>): Run {
  const child = spawn(process.execPath, [join(built, 'main.js')], {
    env: { PATH: process.env['PATH'], NODE_PATH: join(root, 'node_modules'), ...env },
  });
  closeAtEnd(() => child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (part) => (output.stdout += String(part)));
  child.stderr.on('data', (part) => (output.stderr += String(part)));
  const ended = new Promise<{ exitCode: number | null; stderr: string }>((done) => {
    child.on('close', (exitCode) => done({ exitCode, stderr: output.stderr }));
  });
  return { child, stdout: () => output.stdout, ended };
}

async function announced({ child, stdout }: Run): Promise<string> {
  while (!stdout().includes('Ctrl-C')) await new Promise((next) => child.stdout?.once('data', next));
  return stdout();
}

test.each(['SIGTERM', 'SIGINT'] as const)('it says how to try it, and ends on %s with 0', async (signal) => {
  const process = run({ PORT: '0', SANDBOX_PAST: '10' });
  const text = await announced(process);
  const url = /listens on (\S+)\. /.exec(text)?.[1];
  expect(text).toContain(`-H 'x-api-key: sandbox-key'`);
  for (const path of [
    '/v1/partners/products',
    '/place-order',
    '/orders/ID/keys',
    '/v1/partners/orders',
    '/admin/books',
  ]) {
    expect(text).toContain(`${url}${path}`);
  }
  process.child.kill(signal);
  expect((await process.ended).exitCode).toBe(0);
});

test('an API key that somebody chose is not printed', async () => {
  expect(await announced(run({ PORT: '0', SANDBOX_API_KEY: 'chosen-elsewhere' }))).not.toContain('chosen-elsewhere');
});

test('every wrong variable is named at once, with exit code 78', async () => {
  const wrong = {
    PORT: '99999',
    SANDBOX_SPEED: 'fast',
    SANDBOX_PER_LOOK: '30',
    SANDBOX_SPEDE: '2',
    SANDBOX_SEARCH: 'off',
  };
  const { exitCode, stderr } = await run(wrong).ended;
  expect(exitCode).toBe(78);
  for (const name of Object.keys(wrong)) expect(stderr).toContain(`${name}: `);
});

test('a port in use is said in a sentence, not in a stack', async () => {
  const { sandbox } = await start();
  const { exitCode, stderr } = await run({ PORT: String(sandbox.port) }).ended;
  expect(exitCode).toBe(1);
  expect(stderr).toBe(`sandbox: port ${sandbox.port} on 127.0.0.1 is in use; choose another, for instance PORT=4011\n`);
});
