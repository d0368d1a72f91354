import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freshMachine, writeExecutable, type Machine } from './machine';

const SAYS_USAGE = 'echo "Usage: <command> <port> <flags>"';

/** A `mvn` that leaves a library where the real one would. */
const COPIES = `
  echo called >> "$HOME/mvn.log"
  for arg in "$@"; do case "$arg" in -DoutputDirectory=*) out=\${arg#*=};; esac; done
  mkdir "$out" && touch "$out/temporal-test-server.jar"`;

/** A `java` that answers only to the right main class with a class path that exists. */
const JAVA = `
  case "$*" in *io.temporal.testserver.TestServer*) ;; *) exit 1;; esac
  while [ "$1" != -cp ]; do shift; done
  [ -e "\${2%\\*}temporal-test-server.jar" ] && ${SAYS_USAGE}`;

let machine: Machine;
beforeEach(async () => (machine = await freshMachine()));

function ensure(env: Record<string, string> = {}) {
  return machine.call('test-server.mjs', 'ensureTestServer', { env }).ended;
}

describe('the order in which a test server is looked for', () => {
  test('TEMPORAL_TEST_SERVER goes before everything else, because a person set it', async () => {
    const wanted = await writeExecutable(join(machine.dir, 'my server'), SAYS_USAGE);
    const { stdout } = await ensure({ TEMPORAL_TEST_SERVER: wanted });
    expect(JSON.parse(stdout)).toBe(wanted);
  });

  test('a TEMPORAL_TEST_SERVER that is no test server is an error and never quietly replaced', async () => {
    await machine.fake('mvn', COPIES);
    await machine.fake('java', JAVA);
    const wanted = await writeExecutable(join(machine.dir, 'something'), 'echo hello');
    const { code, stderr } = await ensure({ TEMPORAL_TEST_SERVER: wanted });
    expect(code).toBe(1);
    expect(stderr).toContain('TEMPORAL_TEST_SERVER is set to');
    expect(await machine.lines('mvn.log')).toEqual([]);
  });

  test('without a download Maven brings it, the fallback is said, and the launcher is one executable file', async () => {
    await machine.fake('mvn', COPIES);
    const java = await machine.fake('java', JAVA);
    const { stdout, stderr } = await ensure({ JAVA_HOME: join(java, '..', '..') });
    expect(stderr).toMatch(/the SDK's own download failed \(.+\)\. Falling back to Maven/);
    expect(existsSync(JSON.parse(stdout) as string)).toBe(true);
  });

  test('what Maven brought once comes from the cache: no download and no Maven', async () => {
    await machine.fake('mvn', COPIES);
    const java = await machine.fake('java', JAVA);
    const env = { JAVA_HOME: join(java, '..', '..') };
    const first = await ensure(env);
    await machine.unfake('mvn');
    expect(await ensure(env)).toEqual({ code: 0, signal: null, stdout: first.stdout, stderr: '' });
  });
});

describe('when there is no test server to be had', () => {
  test('one message names every way, how it failed, and what to install', async () => {
    const { code, stderr } = await ensure();
    expect(code).toBe(1);
    const message = stderr.slice(stderr.indexOf('No Temporal test server'));
    expect(message).toMatch(/the cache: nothing there/);
    expect(message).toMatch(/the SDK's own download: .+/);
    expect(message).toMatch(/Maven's io\.temporal:temporal-test-server:\S+: mvn is not installed/);
    expect(message).toMatch(/install Java 11 or later with Maven/);
  });

  test('Maven without Java is told apart from no Maven', async () => {
    await machine.fake('mvn', COPIES);
    const { code, stderr } = await ensure();
    expect(code).toBe(1);
    expect(stderr).toMatch(/not a test server that runs: [^]*java: not found/);
  });
});
