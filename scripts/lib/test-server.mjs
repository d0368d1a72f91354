import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureTool } from './find-tool.mjs';
import { run } from './run.mjs';

/** The release of Temporal's Java SDK that contains the time-skipping test server. */
const VERSION = '1.35.0';

const NAME = 'temporal-test-server';
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** Includes slf4j-nop, because without a logging backend the server prints three lines of warnings. */
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>local</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>io.temporal</groupId><artifactId>${NAME}</artifactId><version>${VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;

/** With `exec`, stopping the launcher stops the server. The flags speed up the start: the SDK waits only 5 s. */
const LAUNCHER = `#!/bin/sh
here=\${0%/*}
exec "\${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"
`;

/** Returns the path of a working time-skipping test server. If necessary, it is a launcher for the Maven artifact. */
export function ensureTestServer() {
  return ensureTool({
    name: 'Temporal test server',
    id: NAME,
    version: VERSION,
    file: NAME,
    variable: 'TEMPORAL_TEST_SERVER',
    kind: 'time-skipping',
    async check(path) {
      // Without a port, the program only prints its usage, which proves that it can run.
      const output = await run(path, [], { limitMs: 30_000 }).catch((error) => error.message);
      if (!output.includes('<port>')) throw new Error(`not a working test server: ${output.trim()}`);
    },
    fallback: `Maven's io.temporal:${NAME}:${VERSION}`,
    async make(dir, detail) {
      if (process.platform === 'win32') throw new Error('its launcher is a shell script, which Windows cannot run');
      const pom = join(dir, 'pom.xml');
      await writeFile(pom, POM);
      const args = ['-B', '-ntp', '-f', pom, COPY_DEPENDENCIES, `-DoutputDirectory=${join(dir, 'lib')}`];
      await run('mvn', args, { cwd: dir, onLine: detail });
      await writeFile(join(dir, NAME), LAUNCHER, { mode: 0o755 });
    },
    advice:
      'Set TEMPORAL_TEST_SERVER to the path of a test server, or install Java 11 or later and Maven, and run this again.',
  });
}
