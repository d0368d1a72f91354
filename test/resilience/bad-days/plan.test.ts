import { makePlan } from './make-plan';
import { shrink } from './shrink';

const plans = Array.from({ length: 200 }, (_, seed) => makePlan(seed + 1));
const written = plans.map((plan) => JSON.stringify(plan));

describe('the plan of a seed', () => {
  it('is the same each time and survives JSON, so a day can be repeated from its seed or from a file', () => {
    expect(makePlan(7)).toEqual(makePlan(7));
    expect(JSON.parse(written[6]!)).toEqual(plans[6]);
    expect(new Set(written.map((text) => text.replace(/"seed":\d+/, ''))).size).toBe(plans.length);
  });

  it.each([
    ...[
      'kill',
      'stop',
      'freeze',
      'restart server',
      'partner fault',
      'order grows',
      'order refunded',
      'order row breaks',
      'order breaks',
      'reconcile',
    ],
    ...['reset', 'pause activity', 'reset activity', 'cancel', 'terminate', 'redeliver', 'resolve', 'demo-extra'],
    ...['"search":"ignored"', '"search":"fuzzy"', '"late"', '"copies"', '"items"', '"maxRps"', '"status":409', '410'],
  ])('%s is in more than two of 200 days, so no kind of event goes untested', (name) => {
    expect(written.filter((text) => text.includes(name)).length).toBeGreaterThan(2);
  });
});

describe('a plan whose day fails', () => {
  const [plan] = plans.filter(({ events, purchases }) => events.length > 4 && purchases.length > 6);

  it('shrinks to only what the failure needs', async () => {
    const [, , event] = plan!.events;
    const purchase = plan!.purchases.find(({ faults }) => faults.length > 0)!;
    const needs = JSON.stringify(purchase.faults[0]);
    const smallest = await shrink(
      plan!,
      async ({ events, purchases }) =>
        events.some(({ what }) => what === event!.what) &&
        purchases.some(({ faults }) => JSON.stringify(faults).includes(needs)),
      { most: 1_000, atOnce: 3 },
    );
    expect(smallest.events).toEqual([event]);
    expect(smallest.purchases).toEqual([{ ...purchase, faults: [purchase.faults[0]], answers: [] }]);
  });
});
