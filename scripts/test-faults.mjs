import { parseArgs } from 'node:util';
import { runJest } from './lib/jest.mjs';

// The exhaustive fault matrix. `--seed N` draws the 1,000 purchases of an earlier run again, `--only TEXT` chooses tests
// by their titles.
const { seed, only } = parseArgs({ options: { seed: { type: 'string' }, only: { type: 'string' } } }).values;
if (seed !== undefined && !/^\d{1,9}$/.test(seed)) throw new Error('--seed: expected a number of up to 9 digits');
const matrix = ['--runInBand', '--testMatch', '<rootDir>/test/resilience/fault-matrix/*.faults.ts'];
const args = only === undefined ? matrix : [...matrix, '-t', only];
process.exitCode = await runJest(args, seed === undefined ? {} : { FAULTS_SEED: seed });
