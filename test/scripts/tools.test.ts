import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { freshMachine, writeExecutable, type Machine } from './machine';

const ANSWERS_VERSION = `echo "temporal version 9.9.9 (Server 1.29.1, UI 2.42.1)"`;

/** A `go` that notes each call and leaves in GOBIN what the real one would. */
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

describe('the order in which a Temporal CLI is looked for', () => {
  test('TEMPORAL_CLI goes before everything else, and one that does not run is never quietly replaced', async () => {
    await machine.fake('temporal', NEVER);
    const wanted = await writeExecutable(join(machine.dir, 'my temporal'), ANSWERS_VERSION);
    expect(await ensured(ensure({ TEMPORAL_CLI: wanted }))).toBe(wanted);

    const { code, stdout, stderr } = await ensure({ TEMPORAL_CLI: '/no/such/temporal' }).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('TEMPORAL_CLI is set to /no/such/temporal');
  });

  test('temporal on PATH goes before a build, which takes minutes', async () => {
    const path = await machine.fake('temporal', ANSWERS_VERSION);
    await machine.fake('go', BUILDS);
    expect(await ensured()).toBe(path);
    expect(await machine.lines('go.log')).toEqual([]);
  });

  test('one on PATH that is too old is passed over and, without a download, one is built: both are said', async () => {
    await machine.fake('temporal', 'echo "temporal version 0.9.0 (Server 1.20.4)"');
    await machine.fake('go', BUILDS);
    const { stdout, stderr } = await ensure().ended;
    expect(JSON.parse(stdout)).toContain(machine.cache);
    expect(stderr).toMatch(/temporal on PATH failed \(.*server 1\.20, 1\.28 or later is needed\)/);
    expect(stderr).toMatch(/the SDK's own download failed \(.+\)\. Falling back to go install/);
    const built = [expect.stringContaining('github.com/temporalio/cli/cmd/temporal@v1.5.1')];
    expect(await machine.lines('go.log')).toEqual(built);

    // What was built once comes from the cache: no download, no build, no toolchain.
    await Promise.all(['go', 'temporal'].map(machine.unfake));
    expect(await ensure().ended).toMatchObject({ stdout, stderr: '' });
  });
});

describe('when there is no Temporal CLI to be had', () => {
  test('one message names every way, how it failed, and what to install', async () => {
    const { code, stderr } = await ensure().ended;
    expect(code).toBe(1);
    const message = stderr.slice(stderr.indexOf('No Temporal CLI'));
    expect(message).toMatch(/temporal on PATH: nothing there/);
    expect(message).toMatch(/the cache: nothing there/);
    expect(message).toMatch(/the SDK's own download: .+/);
    expect(message).toMatch(/go install at v1\.5\.1: Go is not installed/);
    expect(message).toMatch(/install Go/);
    expect(message).not.toMatch(/\n\s+at /);
  });

  test('a build that fails shows its own words and leaves nothing that a later run takes for whole', async () => {
    await machine.fake('go', `echo half > "$GOBIN/temporal"; echo "no route to the proxy" >&2; exit 1`);
    const { code, stderr } = await ensure().ended;
    expect(code).toBe(1);
    expect(stderr).toContain('no route to the proxy');
    expect(await readdir(machine.cache)).toEqual(['locks']);
    await machine.fake('go', BUILDS);
    expect(existsSync(await ensured())).toBe(true);
  });
});

describe('when two runs want a Temporal CLI at once', () => {
  const WAITS = `echo started >> "$HOME/go.log"; until [ -e "$HOME/go on" ]; do sleep 0.05; done; ${BUILDS}`;

  test('one builds, the other waits, says so, and takes what was built: it is never built twice', async () => {
    await machine.fake('go', WAITS);
    const runs = [ensure(), ensure()];
    await Promise.any(runs.map((run) => run.said('waiting for it')));
    await writeFile(join(machine.dir, 'go on'), '');
    const [first, second] = await Promise.all(runs.map((run) => run.ended));
    expect([first?.code, second?.code]).toEqual([0, 0]);
    expect(first?.stdout).toBe(second?.stdout);
    expect((await machine.lines('go.log')).filter((line) => line === 'started')).toHaveLength(1);
  });

  test('the lock of a run that was killed holds nobody up, and the next run leaves none of its own', async () => {
    await machine.fake('go', BUILDS);
    const lock = join(machine.cache, 'locks', `temporal-cli-${hostname()}`);
    const { pid } = spawnSync(process.execPath, ['--version']);
    await mkdir(join(lock, `${pid}-its-token`), { recursive: true });
    const { code, stderr } = await ensure().ended;
    expect(code).toBe(0);
    expect(stderr).not.toContain('waiting for it');
    // The dead owner's lock stays where it was moved to: a run that comes late must not move another's there.
    const locks = await readdir(join(machine.cache, 'locks'));
    expect(locks).toEqual([expect.stringContaining('.dead-')]);
  });
});

describe('the time-skipping test server', () => {
  /** A `mvn` that leaves a library where the real one would. */
  const COPIES = `
    for arg in "$@"; do case "$arg" in -DoutputDirectory=*) out=\${arg#*=};; esac; done
    mkdir "$out" && touch "$out/temporal-test-server.jar"`;

  /** A `java` that answers only to the right main class with a class path that exists. */
  const JAVA = `
    case "$*" in *io.temporal.testserver.TestServer*) ;; *) exit 1;; esac
    while [ "$1" != -cp ]; do shift; done
    [ -e "\${2%\\*}temporal-test-server.jar" ] && echo "Usage: <command> <port> <flags>"`;

  const testServer = (env: Record<string, string> = {}) => machine.call('test-server.mjs', 'ensureTestServer', { env });

  test('comes by Maven without a download, behind an executable file; what is missing for that is named', async () => {
    expect((await testServer().ended).stderr).toContain('mvn is not installed');
    await machine.fake('mvn', COPIES);
    expect((await testServer().ended).stderr).toMatch(/not a test server that runs: [^]*java: not found/);
    const java = await machine.fake('java', JAVA);
    expect(existsSync(await ensured(testServer({ JAVA_HOME: join(java, '..', '..') })))).toBe(true);
  });
});

describe('the Temporal server of production', () => {
  const says = (version: string) => `echo "temporal version ${version}"`;
  const BUILDS_BOTH = `
    echo "$@" >> "$HOME/go.log"
    for name in server sql; do printf '#!/bin/sh\\n${says('1.32.0')}\\n' > "$GOBIN/$name"; chmod +x "$GOBIN/$name"; done`;
  const server = () => ensured(machine.call('temporal-server.mjs', 'ensureTemporalServer'));

  test('is built with its SQL tool where there is no download, with the names that they have in the image', async () => {
    await machine.fake('go', BUILDS_BOTH);
    expect((await server()).startsWith(machine.cache)).toBe(true);
    const [call] = await machine.lines('go.log');
    expect(call).toContain('go.temporal.io/server/cmd/server@v1.32.0 go.temporal.io/server/cmd/tools/sql@v1.32.0');
  });

  test.each([
    ['has no SQL tool beside it, whose tables may be another version', '1.32.0', undefined],
    ['is older than its configuration', '1.29.1', '1.29.1'],
    ['has an SQL tool that is older', '1.32.0', '1.31.2'],
  ])('that is on PATH and %s is passed over, and the build is used', async (_, version, sqlTool) => {
    await machine.fake('temporal-server', says(version));
    if (sqlTool) await machine.fake('temporal-sql-tool', says(sqlTool));
    await machine.fake('go', BUILDS_BOTH);
    expect(await server()).toContain(machine.cache);
  });
});
