import { expectAllKeys } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';

/** The products in turn, with the expected outcomes. */
const MIX = [
  ['demo-instant', 2, 'DELIVERED'],
  ['demo-seconds', 1, 'DELIVERED'],
  ['demo-partial', 4, 'PARTIALLY_DELIVERED'],
  ['demo-short', 2, 'PARTIALLY_DELIVERED'],
  ['demo-refunded', 1, 'REFUNDED'],
  ['demo-failed', 1, 'FAILED'],
  ['demo-image', 1, 'DELIVERED'],
] as const;

describe('200 mixed purchases on a real server', () => {
  const env = sharedEnvironment({
    sandbox: { agePerPollMs: 30_000 },
    // A server under load may lose a task, so a placement may have to be confirmed and repeated.
    settings: { replace: 'always', partnerTimeoutMs: 15_000 },
  });

  it('leave orders that match what the verifying checkout received, to the key and the cent', async () => {
    const parts = Array.from({ length: 200 }, (_, index) => MIX[index % MIX.length] ?? MIX[0]);
    const references = await Promise.all(parts.map(([product, quantity]) => env.buy({ [product]: quantity })));
    const results = await env.ended(references);

    expect(results.map((result) => result.outcome)).toEqual(parts.map(([, , outcome]) => outcome));
    const ledger = await env.sandbox.ledger();
    expect(ledger.references.filter(({ orders }) => orders.length > 1)).toEqual([]);
    expect(ledger.totals.orders).toBe(200);
    for (const { referenceId } of results) {
      await expectAllKeys(env, referenceId);
    }
    const debited = results.reduce((total, { totalDebit = 0 }) => total + Math.round(totalDebit * 100), 0);
    expect(debited).toBe(Math.round(ledger.totals.debited * 100));
    expect(env.receiver.events.size).toBe(200);
    expect(env.receiver.refused).toBe(0);
  });
});
