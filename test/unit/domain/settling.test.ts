import { chooseOrder, mayReplace } from '../../../src/domain/settling';

describe('settling a placement of unknown outcome', () => {
  it.each([
    ['never', 'ANSWERED', false],
    ['never', 'UNKNOWN', false],
    ['answered', 'ANSWERED', true],
    ['answered', 'UNKNOWN', false],
    ['always', 'UNKNOWN', true],
    ['never', 'NEVER_WRITTEN', false],
    ['answered', 'NEVER_WRITTEN', true],
  ] as const)('with the policy %s and the evidence %s, placing again is %s', (policy, evidence, allowed) => {
    expect(mayReplace(policy, evidence)).toBe(allowed);
  });
});

describe('choosing the order to adopt', () => {
  const at = (createdAt: string, id: string, status = 'PENDING') => ({ id, status, createdAt });

  it('adopts the oldest, and counts every other one as a double purchase', () => {
    const choice = chooseOrder([at('2026-01-02', 'second'), at('2026-01-01', 'first')]);
    expect(choice?.adopt.id).toBe('first');
    expect(choice?.doubles.map((order) => order.id)).toEqual(['second']);
  });

  it('passes over an order that failed, because it costs nothing', () => {
    const choice = chooseOrder([at('2026-01-01', 'failed', 'FAILED'), at('2026-01-02', 'billable')]);
    expect(choice?.adopt.id).toBe('billable');
    expect(choice?.doubles).toEqual([]);
  });

  it('adopts a refunded one where there is no other, and none where there is none', () => {
    expect(chooseOrder([at('2026-01-01', 'refunded', 'REFUNDED')])?.adopt.id).toBe('refunded');
    expect(chooseOrder([])).toBeUndefined();
  });
});
