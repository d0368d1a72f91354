import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshMachine, type Machine } from './machine';

/** An `npm` that logs each call and writes the list of installed packages. */
const NPM = `
  echo "$@" >> "$HOME/npm.log"
  mkdir -p node_modules && cp package-lock.json node_modules/.package-lock.json`;

let machine: Machine;
let project: string;

beforeEach(async () => {
  machine = await freshMachine();
  project = join(machine.dir, 'a project');
  await mkdir(project);
  await lock({ 'node_modules/left': '1.0.0' });
});

async function lock(versions: Record<string, string>): Promise<void> {
  const packages = Object.fromEntries(Object.entries(versions).map(([path, version]) => [path, { version }]));
  await writeFile(join(project, 'package-lock.json'), JSON.stringify({ packages }));
}

function ensure() {
  return machine.call('dependencies.mjs', 'ensureDependencies', { args: [project] });
}

test('packages, including development packages, are installed once, even if the lock file is touched', async () => {
  await machine.fake('npm', NPM);
  expect((await ensure().ended).code).toBe(0);
  await lock({ 'node_modules/left': '1.0.0' });
  expect((await ensure().ended).stderr).toBe('');
  expect(await machine.lines('npm.log')).toEqual([expect.stringMatching(/^ci .*--include=dev/)]);
});

test.each([
  ['another version', { 'node_modules/left': '1.0.1' }],
  ['one more package', { 'node_modules/left': '1.0.0', 'node_modules/right': '1.0.0' }],
  ['one package fewer', {}],
])('%s in the lock file triggers an installation', async (_change, versions) => {
  await machine.fake('npm', NPM);
  await ensure().ended;
  await lock(versions);
  await ensure().ended;
  expect(await machine.lines('npm.log')).toHaveLength(2);
});

test('outdated packages behind a link are left alone, because npm would empty the shared folder', async () => {
  await machine.fake('npm', NPM);
  await mkdir(join(machine.dir, 'shared'));
  await symlink(join(machine.dir, 'shared'), join(project, 'node_modules'));
  const ended = await ensure().ended;
  expect(ended.code).not.toBe(0);
  expect(ended.stderr).toContain('is a link');
  expect(await machine.lines('npm.log')).toEqual([]);
});

test('the error message of npm is shown if npm fails', async () => {
  await machine.fake('npm', 'echo "npm error code EINTEGRITY" >&2; exit 1');
  const { code, stderr } = await ensure().ended;
  expect(code).toBe(1);
  expect(stderr).toContain('EINTEGRITY');
});
