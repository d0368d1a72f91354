import { join } from 'node:path';

/** Seen from where the compiled benchmarks are, `bench/dist/bench`. */
export const projectRoot = join(__dirname, '../../..');
