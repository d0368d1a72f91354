import { join } from 'node:path';
import { freshMachine } from './machine';

test('the files that a run selects are the same if Jest also writes its results to a file, as for the cluster', async () => {
  const machine = await freshMachine();
  const file = 'test/unit/domain/money.test.ts';
  const output = ['--json', '--outputFile', join(machine.dir, 'results.json')];
  for (const args of [[file], [file, ...output]]) {
    const { stdout } = await machine.call('jest.mjs', 'testFiles', { args: [args] }).ended;
    expect(JSON.parse(stdout)).toEqual([file]);
  }
});
