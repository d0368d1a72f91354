import { join } from 'node:path';

/** Relative to the compiled benchmarks in `bench/dist/bench`. */
export const projectRoot = join(__dirname, '../../..');
