import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { freshMachine, writeExecutable, type Machine } from './machine';

const ANSWERS_VERSION = `echo "temporal version 9.9.9 (Server 1.29.1, UI 2.42.1)"`;

/** A `go` that logs each call and leaves the same file in GOBIN as the real one. */
const BUILDS = `
  echo "$@" >> "$HOME/go.log"
  printf '#!/bin/sh\\necho "temporal version 0.0.0-DEV (Server 1.29.1)"\\n' > "$GOBIN/temporal"
  chmod +x "$GOBIN/temporal"`;

const NEVER = 'echo "this must not be run" >&2; exit 99';

let machine: Machine;
beforeEach(async () => (machine = await freshMachine()));

function ensure(env: Record<string, string> = {}) {
  return machine.call('temporal-cli.mjs', 'ensureTemporalCli', { env });
}

async function ensured(running = ensure()): Promise<string> {
  const { code, stdout, stderr } = await running.ended;
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as string;
}

describe('the search order for a Temporal CLI', () => {
  test('TEMPORAL_CLI comes first, and is never silently replaced if it does not run', async () => {
    await machine.fake('temporal', NEVER);
    const wanted = await writeExecutable(join(machine.dir, 'my temporal'), ANSWERS_VERSION);
    expect(await ensured(ensure({ TEMPORAL_CLI: wanted }))).toBe(wanted);

    const { code, stdout, stderr } = await ensure({ TEMPORAL_CLI: '/no/such/temporal' }).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('TEMPORAL_CLI is set to /no/such/temporal');
  });

  test('temporal on the PATH is preferred to a build, which takes minutes', async () => {
    const path = await machine.fake('temporal', ANSWERS_VERSION);
    await machine.fake('go', BUILDS);
    expect(await ensured()).toBe(path);
    expect(await machine.lines('go.log')).toEqual([]);
  });

  test('an outdated CLI on the PATH is skipped and, without a download, one is built; both are reported', async () => {
    await machine.fake('temporal', 'echo "temporal version 0.9.0 (Server 1.20.4)"');
    await machine.fake('go', BUILDS);
    const { stdout, stderr } = await ensure().ended;
    expect(JSON.parse(stdout)).toContain(machine.cache);
    expect(stderr).toMatch(/temporal on PATH failed \(.*server 1\.20, but 1\.28 or later is needed\)/);
    expect(stderr).toMatch(/the SDK's own download failed \(.+\)\. Falling back to go install/);
    const built = [expect.stringContaining('github.com/temporalio/cli/cmd/temporal@v1.5.1')];
    expect(await machine.lines('go.log')).toEqual(built);

    // The next run finds the build in the cache and needs no toolchain.
    await Promise.all(['go', 'temporal'].map(machine.unfake));
    expect(await ensure().ended).toMatchObject({ stdout, stderr: '' });
  });
});

describe('when no Temporal CLI is available', () => {
  test('one message lists every source, how it failed, and what to install', async () => {
    const { code, stderr } = await ensure().ended;
    expect(code).toBe(1);
    const message = stderr.slice(stderr.indexOf('No Temporal CLI'));
    expect(message).toMatch(/temporal on PATH: not found/);
    expect(message).toMatch(/the cache: not found/);
    expect(message).toMatch(/the SDK's own download: .+/);
    expect(message).toMatch(/go install at v1\.5\.1: Go is not installed/);
    expect(message).toMatch(/install Go/);
    expect(message).not.toMatch(/\n\s+at /);
  });

  test('a failed build shows its own error and leaves nothing that a later run could mistake for a complete build', async () => {
    await machine.fake('go', `echo half > "$GOBIN/temporal"; echo "no route to the proxy" >&2; exit 1`);
    const { code, stderr } = await ensure().ended;
    expect(code).toBe(1);
    expect(stderr).toContain('no route to the proxy');
    expect(await readdir(machine.cache)).toEqual(['locks']);
    await machine.fake('go', BUILDS);
    expect(existsSync(await ensured())).toBe(true);
  });
});

describe('when two runs need a Temporal CLI at once', () => {
  const WAITS = `echo started >> "$HOME/go.log"; until [ -e "$HOME/go on" ]; do sleep 0.05; done; ${BUILDS}`;

  test('one builds it; the other says that it is waiting and uses that build, and never builds it again', async () => {
    await machine.fake('go', WAITS);
    const runs = [ensure(), ensure()];
    await Promise.any(runs.map((run) => run.said('waiting for it')));
    await writeFile(join(machine.dir, 'go on'), '');
    const [first, second] = await Promise.all(runs.map((run) => run.ended));
    expect([first?.code, second?.code]).toEqual([0, 0]);
    expect(first?.stdout).toBe(second?.stdout);
    expect((await machine.lines('go.log')).filter((line) => line === 'started')).toHaveLength(1);
  });

  test('the lock of a killed run blocks no other run, and the next run leaves no lock behind', async () => {
    await machine.fake('go', BUILDS);
    const lock = join(machine.cache, 'locks', `temporal-cli-${hostname()}`);
    const { pid } = spawnSync(process.execPath, ['--version']);
    await mkdir(join(lock, `${pid}-its-token`), { recursive: true });
    const { code, stderr } = await ensure().ended;
    expect(code).toBe(0);
    expect(stderr).not.toContain('waiting for it');
    // The dead owner's lock stays under its new name, so that a late run can't move a live lock to that name.
    const locks = await readdir(join(machine.cache, 'locks'));
    expect(locks).toEqual([expect.stringContaining('.dead-')]);
  });
});

describe('the time-skipping test server', () => {
  /** A `mvn` that leaves a library in the same place as the real one. */
  const COPIES = `
    for arg in "$@"; do case "$arg" in -DoutputDirectory=*) out=\${arg#*=};; esac; done
    mkdir "$out" && touch "$out/temporal-test-server.jar"`;

  /** A `java` that accepts only the right main class with an existing class path. */
  const JAVA = `
    case "$*" in *io.temporal.testserver.TestServer*) ;; *) exit 1;; esac
    while [ "$1" != -cp ]; do shift; done
    [ -e "\${2%\\*}temporal-test-server.jar" ] && echo "Usage: <command> <port> <flags>"`;

  const testServer = (env: Record<string, string> = {}) => machine.call('test-server.mjs', 'ensureTestServer', { env });

  test('comes from Maven if there is no download, with an executable wrapper; missing tools are named', async () => {
    expect((await testServer().ended).stderr).toContain('mvn is not installed');
    await machine.fake('mvn', COPIES);
    expect((await testServer().ended).stderr).toMatch(/not a working test server: [^]*java: not found/);
    const java = await machine.fake('java', JAVA);
    expect(existsSync(await ensured(testServer({ JAVA_HOME: join(java, '..', '..') })))).toBe(true);
  });
});

describe('the Temporal server of production', () => {
  const compose = readFileSync(join(__dirname, '../../docker-compose.yml'), 'utf8');
  const VERSION = /temporalio\/server:([\d.]+)/.exec(compose)?.[1] ?? '';
  const says = (version: string) => `echo "temporal version ${version}"`;
  const BUILDS_BOTH = `
    echo "$@" >> "$HOME/go.log"
    for name in server sql; do printf '#!/bin/sh\\n${says(VERSION)}\\n' > "$GOBIN/$name"; chmod +x "$GOBIN/$name"; done`;
  const server = () => ensured(machine.call('temporal-server.mjs', 'ensureTemporalServer'));

  test('is built in the version of docker-compose.yml, with its SQL tool, if there is no download', async () => {
    await machine.fake('go', BUILDS_BOTH);
    expect((await server()).startsWith(machine.cache)).toBe(true);
    const [call] = await machine.lines('go.log');
    const [program, sqlTool] = ['server', 'tools/sql'].map((name) => `go.temporal.io/server/cmd/${name}@v${VERSION}`);
    expect(call).toContain(`${program} ${sqlTool}`);
  });

  test.each([
    ['has no SQL tool, so that its tables could have another version', VERSION, undefined],
    ['is older than its configuration', '1.29.1', '1.29.1'],
    ['has an older SQL tool', VERSION, '1.32.1'],
  ])('that is on the PATH but %s is skipped in favour of the build', async (_, version, sqlTool) => {
    await machine.fake('temporal-server', says(version));
    if (sqlTool) await machine.fake('temporal-sql-tool', says(sqlTool));
    await machine.fake('go', BUILDS_BOTH);
    expect(await server()).toContain(machine.cache);
  });
});
