// `npm run sandbox`: the partner sandbox alone, from a fresh clone too.
import { ensureBuild, ensureDependencies } from './lib/prepare.mjs';

await ensureDependencies();
await ensureBuild();
await import('../dist/sandbox/main.js');
