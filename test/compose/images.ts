import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../support/clean-up';
import { ENGINE, run, tryRun } from './engine';

const ROOT = join(__dirname, '../..');
const STAND_INS = join(__dirname, 'stand-ins');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const log = (line: string) => void process.stderr.write(`${line}\n`);

/** Copies the files that a stand-in needs into its build folder. */
type Prepare = (folder: string) => Promise<void> | void;

/** The stand-ins for images that can't be pulled, each with its Containerfile, on a Debian of debootstrap. */
const RECIPES: Record<string, { name: string; prepare?: Prepare }> = {
  node: { name: 'node', prepare: copyNode },
  postgres: { name: 'postgres' },
  'temporalio/server': { name: 'server', prepare: (folder) => copyServer(folder, ['temporal-server']) },
  'temporalio/admin-tools': {
    name: 'admin-tools',
    async prepare(folder) {
      await copyServer(folder, ['temporal-sql-tool']);
      cpSync(process.env.TEMPORAL_CLI ?? '', join(folder, 'temporal'));
    },
  },
  'temporalio/ui': { name: 'ui', prepare: buildUi },
  'prom/prometheus': { name: 'prometheus' },
  'grafana/grafana': { name: 'grafana' },
};

/** The official images in the Dockerfile and docker-compose.yml. */
export function officialImages(): string[] {
  const names = [...`${read('Dockerfile')}\n${read('docker-compose.yml')}`.matchAll(/^(?:FROM| +image:) (\S+)/gm)];
  const official = names.map(([, name = '']) => name).filter((name) => !name.startsWith('durable-fulfilment-worker:'));
  return [...new Set(official)];
}

/**
 * Provides every official image: pulled if possible, otherwise a stand-in under the same name.
 *
 * @returns the images that are stand-ins
 */
export async function ensureImages(): Promise<string[]> {
  const standIns: string[] = [];
  for (const image of officialImages()) {
    if (await isPulled(image)) {
      log(`real      ${image}`);
    } else {
      await buildStandIn(image);
      standIns.push(image);
      log(`stand-in  ${image}: ${aboutStandIn(image)}`);
    }
  }
  return standIns;
}

/** Removes only the official names, so that a stand-in is never mistaken for the real image. */
export async function removeImages(images: readonly string[]): Promise<void> {
  for (const image of images) await tryRun([ENGINE, 'rmi', image]);
}

const LABEL = 'fulfilment.stand-in';

/** Whether the real image is available. A stand-in that an interrupted run left behind does not count. */
async function isPulled(image: string): Promise<boolean> {
  const format = `{{index .Config.Labels "${LABEL}"}}`;
  const { code, stdout } = await tryRun([ENGINE, 'image', 'inspect', '--format', format, image]);
  const isHere = code === 0 && !stdout.includes('yes');
  return isHere || (await tryRun([ENGINE, 'pull', '--quiet', image])).code === 0;
}

function recipeOf(image: string): { name: string; prepare?: Prepare } {
  const recipe = RECIPES[image.replace(/:.*/, '')];
  if (!recipe) throw new Error(`${image} can't be pulled, and no stand-in for it is known`);
  return recipe;
}

/** The first line of its Containerfile. */
function aboutStandIn(image: string): string {
  return readFileSync(join(STAND_INS, `${recipeOf(image).name}.Containerfile`), 'utf8')
    .split('\n')[0]!
    .slice(2);
}

async function buildStandIn(image: string): Promise<void> {
  const { name, prepare } = recipeOf(image);
  await ensureBase();
  const folder = temporaryFolder();
  cpSync(STAND_INS, folder, { recursive: true });
  await prepare?.(folder);
  log(`${image} can't be pulled; its stand-in is built …`);
  const file = join(folder, `${name}.Containerfile`);
  const names = ['--label', `${LABEL}=yes`, '--tag', image, '--tag', `stand-in/${name}`];
  await run([ENGINE, 'build', '--quiet', ...names, '--file', file, folder]);
}

/** A minimal Debian. */
async function ensureBase(): Promise<void> {
  if ((await tryRun([ENGINE, 'image', 'inspect', 'stand-in/base'])).code === 0) return;
  log('A base of Debian packages is made by debootstrap …');
  const folder = join(temporaryFolder(), 'base');
  const include = 'ca-certificates,netcat-openbsd';
  await run(['debootstrap', '--variant=minbase', `--include=${include}`, 'bookworm', folder]);
  // Includes any extra root certificates that this machine needs for its package registries.
  const certificates = '/etc/ssl/certs/ca-certificates.crt';
  if (existsSync(certificates)) cpSync(certificates, join(folder, certificates));
  const tar = join(dirname(folder), 'base.tar');
  await run(['tar', '--create', '--file', tar, '--directory', folder, '.']);
  await run([ENGINE, 'import', tar, 'stand-in/base']);
}

async function copyNode(folder: string): Promise<void> {
  const local = join(folder, 'usr/local');
  mkdirSync(join(local, 'bin'), { recursive: true });
  const [, version = ''] = /^FROM node:([\d.]+)/m.exec(read('Dockerfile')) ?? [];
  cpSync(await provided('node.mjs', 'ensureNode', version), join(local, 'bin/node'));
  const npm = join(await run(['npm', 'root', '--global']), 'npm');
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    await run(['ln', '-s', `../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name)]);
  // This machine's access to its package registry.
  const settings = await run(['npm', 'config', 'get', 'globalconfig']);
  if (existsSync(settings)) cpSync(settings, join(local, 'etc/npmrc'));
}

/** The programs that `npm run test:cluster` runs. */
async function copyServer(folder: string, names: readonly string[]): Promise<void> {
  const server = await provided('temporal-server.mjs', 'ensureTemporalServer');
  for (const name of names) cpSync(join(dirname(server), name), join(folder, name));
}

/** @returns the path of a program that a function of `scripts/lib` finds or fetches */
function provided(file: string, ensure: string, ...args: string[]): Promise<string> {
  const module = pathToFileURL(join(ROOT, 'scripts/lib', file)).href;
  const code = `import { ${ensure} } from '${module}'; console.log(await ${ensure}(...process.argv.slice(1)))`;
  return run([process.execPath, '--input-type=module', '--eval', code, ...args]);
}

const UI = 'github.com/temporalio/ui-server/v2';
/** A version that the Go module proxy can build, for the stand-in only. */
const BUILDABLE_UI = '2.55.0';

async function buildUi(folder: string): Promise<void> {
  const [, pinned = BUILDABLE_UI] = /temporalio\/ui:([\d.]+)/.exec(read('docker-compose.yml')) ?? [];
  const go = { env: { GOBIN: folder, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto' }, cwd: folder };
  const install = (version: string) => ['go', 'install', `${UI}/cmd/server@v${version}`];
  let version = pinned;
  if ((await tryRun(install(pinned), go)).code !== 0) {
    log(`The Temporal UI ${pinned} can't be built here; its stand-in has version ${BUILDABLE_UI}.`);
    version = BUILDABLE_UI;
    await run(install(version), go);
  }
  await run(['mv', 'server', 'ui-server'], go);
  const { Dir } = JSON.parse(await run(['go', 'mod', 'download', '-json', `${UI}@v${version}`], go)) as { Dir: string };
  cpSync(join(Dir, 'config/docker.yaml'), join(folder, 'config/docker.yaml'));
}
