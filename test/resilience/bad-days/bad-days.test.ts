import { liveDays } from './days';
import { makePlan } from './make-plan';
import { sharedServers } from './servers';

/** Chosen for what is in them, and for their short days. `npm run test:faults` lives 200 others. */
const SEEDS = [8, 38, 43];

jest.setTimeout(300_000);

it('some seeded bad days end with everything bought once and delivered once or reported', async () => {
  const failures = await liveDays(SEEDS.map(makePlan), { withServer: sharedServers(), atOnce: SEEDS.length });
  expect(failures.map(({ plan: { seed }, violations }) => ({ seed, violations }))).toEqual([]);
});
