import { ensureContainerEngine } from './lib/container-engine.mjs';
import { runJest } from './lib/jest.mjs';

const { engine, compose } = await ensureContainerEngine();
process.env.TEST_CONTAINER_ENGINE = engine;
process.env.TEST_COMPOSE = JSON.stringify(compose);
process.exitCode = await runJest([
  '--runInBand',
  '--testMatch',
  '**/test/compose/*.compose.ts',
  ...process.argv.slice(2),
]);
