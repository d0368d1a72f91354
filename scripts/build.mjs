import { compilePrograms, ensureBuild } from './lib/build.mjs';

await ensureBuild({ anew: true });
await compilePrograms('sandbox', 'demo');
