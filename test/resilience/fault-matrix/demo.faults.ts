import { join } from 'node:path';
import { startProcess } from '../../support/processes';

/** An order of the demo becomes overdue after 50 s, which is too long for `npm test`. */
it('the demo exits with 0 when each purchase ends as expected and both ledgers agree', async () => {
  const { TEMPORAL_CLI } = process.env;
  const demo = startProcess(join(__dirname, '../../../demo/dist/demo/main.js'), [], { env: { TEMPORAL_CLI } });
  const { code } = await demo.ended;
  expect({ code, output: demo.output() }).toEqual({ code: 0, output: expect.stringContaining('no key lost') });
});
