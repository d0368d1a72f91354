import { join } from 'node:path';
import { freshMachine, type Machine } from './machine';

const says = (version: string) => `echo "temporal version ${version}"`;

/** A `go` that notes each call and leaves in GOBIN what the real one would. */
const BUILDS = `
  echo "$@" >> "$HOME/go.log"
  for name in server sql; do printf '#!/bin/sh\\n${says('1.32.0')}\\n' > "$GOBIN/$name"; chmod +x "$GOBIN/$name"; done`;

let machine: Machine;
beforeEach(async () => (machine = await freshMachine()));

const ensured = async () => {
  const { code, stdout, stderr } = await machine.call('temporal-server.mjs', 'ensureTemporalServer').ended;
  if (code !== 0) throw new Error(stderr);
  return { path: JSON.parse(stdout) as string, stderr };
};

test('without a download the Temporal server and its SQL tool are built, with the names that they have in the image', async () => {
  await machine.fake('go', BUILDS);
  const { path, stderr } = await ensured();
  expect(path).toBe(
    join(machine.cache, `temporal-server-1.32.0-${process.platform}-${process.arch}`, 'temporal-server'),
  );
  expect(stderr).toMatch(/the release's own archive failed \(.+\)\. Falling back to go install/);
  const [call] = await machine.lines('go.log');
  expect(call).toContain('go.temporal.io/server/cmd/server@v1.32.0 go.temporal.io/server/cmd/tools/sql@v1.32.0');
});

test.each([
  ['has no SQL tool beside it, whose tables may be another version', '1.32.0', undefined],
  ['is older than its configuration', '1.29.1', '1.29.1'],
  ['has an SQL tool that is older', '1.32.0', '1.31.2'],
])('a server on PATH that %s is passed over, and the build is used', async (_, server, sqlTool) => {
  await machine.fake('temporal-server', says(server));
  if (sqlTool) await machine.fake('temporal-sql-tool', says(sqlTool));
  await machine.fake('go', BUILDS);
  expect((await ensured()).path).toContain(machine.cache);
});
