import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fill, onPath } from './find-tool.mjs';
import { withLock } from './lock.mjs';
import { log, step } from './log.mjs';
import { cacheDir } from './paths.mjs';
import { run } from './run.mjs';

const COMPOSE_VERSION = '2.40.3';

/**
 * Finds a working container engine (Docker or Podman) and a Docker Compose command: Docker's plugin, docker-compose on
 * the PATH, which works with both engines, or a build through the Go module proxy.
 *
 * @returns {Promise<{ engine: 'docker' | 'podman', compose: string[] }>}
 * @throws Error that says what to install
 */
export async function ensureContainerEngine() {
  const failures = ['No container engine could be used. Tried, in this order:'];
  for (const engine of /** @type {const} */ (['docker', 'podman'])) {
    try {
      await run(engine, ['info'], { limitMs: 30_000 });
      const hasPlugin = engine === 'docker' && (await runs('docker', ['compose', 'version']));
      return { engine, compose: hasPlugin ? ['docker', 'compose'] : [await ensureCompose()] };
    } catch (error) {
      failures.push(`  - ${engine}: ${error.message.trim().split('\n').at(-1)}`);
    }
  }
  const advice =
    'Install and start Docker with its compose plugin, or Podman (Debian: podman runc netavark aardvark-dns iptables).';
  throw new Error([...failures, advice].join('\n'));
}

/** @type {(command: string, args: string[]) => Promise<boolean>} */
function runs(command, args) {
  return run(command, args, { limitMs: 30_000 }).then(
    () => true,
    () => false,
  );
}

async function ensureCompose() {
  const file = 'docker-compose';
  const installed = onPath(file);
  // Version 1, written in Python, does not support much of docker-compose.yml.
  if (installed && !/version:? v?1\./.test(await run(installed, ['version'], { limitMs: 30_000 }))) return installed;
  const dir = join(cacheDir(), `${file}-${COMPOSE_VERSION}-${process.platform}-${process.arch}`);
  const made = join(dir, file);
  await withLock(file, 'building Docker Compose', async () => {
    if (existsSync(made)) return;
    if (!onPath('go'))
      throw new Error('Docker Compose is not installed, and neither is Go, which is needed to build it');
    log('Building Docker Compose from source. This takes five to ten minutes, but only once.');
    await step(`Docker Compose ${COMPOSE_VERSION}: go build`, (detail) =>
      fill(dir, (draft) => buildCompose(draft, file, detail)),
    );
  });
  return made;
}

/** @type {(dir: string, file: string, detail: (text: string) => void) => Promise<void>} */
async function buildCompose(dir, file, detail) {
  const options = { cwd: dir, env: { CGO_ENABLED: '0' }, onLine: detail };
  const program = 'github.com/docker/compose/v2/cmd';
  // `go install` rejects a module that contains exclusions. As a dependency it builds without them.
  await run('go', ['mod', 'init', 'compose'], options);
  await run('go', ['get', `${program}@v${COMPOSE_VERSION}`], options);
  await run('go', ['build', '-v', '-o', file, program], options);
}
