// What a fresh machine needs, each brought about at its first call and found ready at every later one.
export { ensureBuild } from './build.mjs';
export { ensureDependencies } from './dependencies.mjs';
export { ensureTemporalCli } from './temporal-cli.mjs';
export { ensureTestServer } from './test-server.mjs';
