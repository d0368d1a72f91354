import { compilePrograms, ensureBuild } from './lib/build.mjs';

await ensureBuild({ anew: !process.argv.includes('--changed') });
await compilePrograms('sandbox', 'demo');
