import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { executableName, fillFolder, findQuietly, findTool, messageOf, onPath } from './find-tool.mjs';
import { withLock } from './lock.mjs';
import { lockFile, toolDir } from './places.mjs';
import { step } from './progress.mjs';
import { run } from './run.mjs';
import { downloadWithSdk } from './sdk-download.mjs';

/** A release of Temporal's Java SDK, which the time-skipping test server is part of. */
const VERSION = '1.35.0';

const NAME = 'temporal-test-server';
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

const ADVICE =
  'Set TEMPORAL_TEST_SERVER to the path of a Temporal test server, or install Java 11 or later with Maven and run this again.';

/**
 * A time-skipping Temporal test server that runs: `TEMPORAL_TEST_SERVER`, one cached by an earlier run, the SDK's own
 * download, or the Maven artifact with its dependencies behind a launcher.
 *
 * @returns {Promise<string>} its absolute path, for `executable: { type: 'existing-path' }` of the SDK
 * @throws {Error} one message that names everything that was tried, or that `TEMPORAL_TEST_SERVER` names none that runs
 */
export async function ensureTestServer() {
  const wanted = process.env.TEMPORAL_TEST_SERVER;
  if (wanted) return checkWanted(wanted);
  const ready = [{ name: 'the cache', find: findCached }];
  const found = await findQuietly(ready);
  if (found) return found;
  const ways = [
    ...ready,
    { name: "the SDK's own download", find: download },
    { name: `Maven's io.temporal:${NAME}:${VERSION}`, find: fetchWithMaven },
  ];
  return withLock(lockFile(NAME), 'the test server', () => findTool('Temporal test server', ways, ADVICE));
}

/** @param {string} path */
async function checkWanted(path) {
  try {
    return await check(path);
  } catch (error) {
    throw new Error(`TEMPORAL_TEST_SERVER is set to ${path}, but: ${messageOf(error)}`);
  }
}

async function findCached() {
  const path = cachedPath();
  return existsSync(path) ? check(path) : undefined;
}

async function download() {
  return step(`Temporal test server ${VERSION}: download`, async (detail) => {
    await fillFolder(toolDir(NAME, VERSION), async (draft) => {
      const file = await downloadWithSdk('time-skipping', `v${VERSION}`, draft, detail);
      await rename(file, join(draft, executableName(NAME)));
      await check(join(draft, executableName(NAME)));
    });
    return cachedPath();
  });
}

async function fetchWithMaven() {
  if (process.platform === 'win32') throw new Error('its launcher is a shell script');
  if (!onPath('mvn')) throw new Error('Maven is not installed');
  return step(`Temporal test server ${VERSION}: Maven`, async (detail) => {
    await fillFolder(toolDir(NAME, VERSION), async (draft) => {
      await writeFile(join(draft, 'pom.xml'), pom());
      const args = [
        '-B',
        '-ntp',
        '-f',
        join(draft, 'pom.xml'),
        COPY_DEPENDENCIES,
        `-DoutputDirectory=${join(draft, 'lib')}`,
      ];
      await run('mvn', args, { cwd: draft, onLine: detail });
      await writeFile(join(draft, NAME), launcher(), { mode: 0o755 });
      await check(join(draft, NAME));
    });
    return cachedPath();
  });
}

function cachedPath() {
  return join(toolDir(NAME, VERSION), executableName(NAME));
}

/**
 * Started without a port the server only says how it is used, which shows that it runs without starting it.
 *
 * @param {string} path
 * @returns {Promise<string>} `path`
 */
async function check(path) {
  const said = await run(path, [], { limitMs: 30_000 }).catch(messageOf);
  if (!said.includes('<port>')) throw new Error(`not a test server that runs: ${said.trim()}`);
  return path;
}

/** slf4j-nop: without a logging backend the server writes three lines of complaint into every test run. */
function pom() {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>test-server</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>io.temporal</groupId><artifactId>${NAME}</artifactId><version>${VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;
}

/** `exec`, so that whoever stops the launcher stops the server; the flags, because the SDK waits five seconds for it. */
function launcher() {
  return `#!/bin/sh
here=\${0%/*}
java=java
[ -n "$JAVA_HOME" ] && java="$JAVA_HOME/bin/java"
exec "$java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"
`;
}
