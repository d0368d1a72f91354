import { compilePrograms } from './lib/build.mjs';

await compilePrograms('sandbox');
await import(new URL('../sandbox/dist/main.js', import.meta.url).href);
