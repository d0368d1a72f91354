import { onPath } from './find-tool.mjs';
import { ensurePodmanCompose } from './python.mjs';
import { run } from './run.mjs';

/**
 * A container engine that runs, and the command of its compose: Docker with its plugin; else Podman with podman-compose, the one on
 * PATH or from PyPI.
 *
 * @returns {Promise<{ engine: 'docker' | 'podman', compose: string[] }>} @throws Error that says what to install
 */
export async function ensureContainerEngine() {
  const failures = ['No container engine with a compose could be used. Tried, in this order:'];
  /** @type {(name: string, error: Error) => void} */
  const failed = (name, { message }) => void failures.push(`  - ${name}: ${message.split('\n')[0]}`);
  try {
    await run('docker', ['info'], { limitMs: 30_000 });
    await run('docker', ['compose', 'version'], { limitMs: 30_000 });
    return { engine: 'docker', compose: ['docker', 'compose'] };
  } catch (error) {
    failed('docker', error);
  }
  try {
    await run('podman', ['info'], { limitMs: 30_000 });
    const installed = onPath('podman-compose');
    return { engine: 'podman', compose: installed ? [installed] : [await ensurePodmanCompose(), '-m', 'podman_compose'] };
  } catch (error) {
    failed('podman', error);
  }
  const advice = 'Install Docker with its compose plugin, or Podman (Debian: podman runc netavark aardvark-dns).';
  throw new Error([...failures, advice].join('\n'));
}
