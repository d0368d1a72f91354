import { join } from 'node:path';
import { freshMachine, type Machine } from './machine';

const { platform, arch } = process;
const PACKAGE = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`;

/** An npm with these versions. Its Node reports the given version. */
const npmWith = (versions: readonly string[], says = '$version') => `
  echo "$@" >> "$HOME/npm.log"
  for last in "$@"; do version=\${last##*@}; done
  if [ "$1" = view ]; then echo '${JSON.stringify(versions.length === 1 ? versions[0] : versions)}'; exit; fi
  bin="node_modules/${PACKAGE}/bin"; mkdir -p "$bin"
  printf '#!/bin/sh\\necho "v%s"\\n' "${says}" > "$bin/node"; chmod +x "$bin/node"`;

let machine: Machine;
beforeEach(async () => (machine = await freshMachine()));

const ensureNode = (version: string) => machine.call('node.mjs', 'ensureNode', { args: [version] }).ended;
const pathOf = (version: string) =>
  join(machine.cache, `node-${version}-${platform}-${arch}`, 'node_modules', PACKAGE, 'bin/node');

test('the start of a version selects the newest match, sorted by number and not as text', async () => {
  await machine.fake('npm', npmWith(['24.9.0', '24.21.0', '24.3.0']));
  expect(await ensureNode('24')).toMatchObject({ code: 0, stdout: JSON.stringify(pathOf('24.21.0')) });
});

test('a version that is in the cache is never installed again', async () => {
  await machine.fake('npm', npmWith(['20.19.6']));
  expect((await ensureNode('20.19')).stdout).toBe(JSON.stringify(pathOf('20.19.6')));
  await machine.unfake('npm');
  expect((await ensureNode('20.19.6')).stdout).toBe(JSON.stringify(pathOf('20.19.6')));
  const calls = await machine.lines('npm.log');
  expect(calls.filter((call) => call.startsWith('install'))).toEqual([expect.stringMatching(`${PACKAGE}@20.19.6$`)]);
});

test.each([
  ['a version that npm does not have', '99', 'echo E404; exit 1', /^npm found no Node 99: [^]*E404/],
  [
    'something that is not a version',
    '--watch',
    'exit 1',
    /expected a version of Node such as 24 or 20\.19, got --watch/,
  ],
  ['a binary of another version', '24.1.0', npmWith([], '20.0.0'), /says that it is v20\.0\.0, not v24\.1\.0/],
])('%s is rejected, so that no suite runs on another version of Node', async (_, version, npm, message) => {
  await machine.fake('npm', npm);
  const { code, stderr } = await ensureNode(version);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) as string });
});
