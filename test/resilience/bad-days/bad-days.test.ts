import { liveDays } from './days';
import { makePlan } from './make-plan';
import { sharedServers } from './servers';

/** Chosen for their faults and their short days. `npm run test:faults` runs 200 others. */
const SEEDS = [8, 38, 43];

it('a few seeded bad days end with every purchase bought once, and every key delivered once or reported', async () => {
  const failures = await liveDays(SEEDS.map(makePlan), { withServer: sharedServers(), atOnce: SEEDS.length });
  expect(failures.map(({ plan: { seed }, violations }) => ({ seed, violations }))).toEqual([]);
});
