import { ensureBuild } from './lib/build.mjs';

await ensureBuild();
await import(new URL('../dist/sandbox/main.js', import.meta.url).href);
