import { chooseOrder, mayReplace, placementPause, settlingPauses } from '../../../src/domain/settling';

describe('settling a placement of unknown outcome', () => {
  it('looks soon and then with growing gaps, over the whole settling time', () => {
    const pauses = settlingPauses(60_000);
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.reduce((total, pause) => total + pause, 0)).toBe(60_000);
  });

  it.each([
    ['never', 'ANSWERED', false],
    ['never', 'UNKNOWN', false],
    ['answered', 'ANSWERED', true],
    ['answered', 'UNKNOWN', false],
    ['always', 'UNKNOWN', true],
  ] as const)('with the policy %s and the evidence %s, placing again is %s', (policy, evidence, allowed) => {
    expect(mayReplace(policy, evidence)).toBe(allowed);
  });
});

describe('choosing the order to adopt', () => {
  const at = (createdAt: string, id: string, status = 'PENDING') => ({ id, status, createdAt });

  it('takes the first, and calls every other one a double purchase', () => {
    const choice = chooseOrder([at('2026-01-02', 'second'), at('2026-01-01', 'first')]);
    expect(choice?.adopt.id).toBe('first');
    expect(choice?.doubles.map((order) => order.id)).toEqual(['second']);
  });

  it('passes over an order that was refused, because it cost nothing', () => {
    const choice = chooseOrder([at('2026-01-01', 'refused', 'FAILED'), at('2026-01-02', 'alive')]);
    expect(choice?.adopt.id).toBe('alive');
    expect(choice?.doubles).toEqual([]);
  });

  it('takes a refused one where there is no other, and none where there is none', () => {
    expect(chooseOrder([at('2026-01-01', 'refused', 'REFUNDED')])?.adopt.id).toBe('refused');
    expect(chooseOrder([])).toBeUndefined();
  });
});

describe('the pause before a placement is tried again', () => {
  it('doubles up to a minute', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map((attempt) => placementPause(attempt))).toEqual([
      2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
    ]);
  });

  it('is never shorter than what the partner asked for', () => {
    expect(placementPause(1, 90_000)).toBe(90_000);
  });
});
