import { PARTNER_ORDER_ID, PURCHASE_STATE, REFERENCE_ID } from '../../../src/contracts/search-attributes';
import { expectAllKeys, expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';

describe('a purchase ends as the partner lets it', () => {
  const env = sharedEnvironment({ sandbox: { perLookMs: 30_000 } });

  it.each([
    ['demo-seconds', 1, 'DELIVERED'],
    ['demo-partial', 4, 'PARTIALLY_DELIVERED'],
    ['demo-short', 3, 'PARTIALLY_DELIVERED'],
    ['demo-refunded', 1, 'REFUNDED'],
    ['demo-failed', 1, 'FAILED'],
    ['demo-strange', 1, 'DELIVERED'],
    ['demo-flapping', 1, 'DELIVERED'],
    ['demo-out-of-stock', 1, 'REJECTED'],
  ] as const)('%s × %i ends %s, with the keys that were issued and no others', async (product, quantity, outcome) => {
    const result = await env.bought({ [product]: quantity });

    expect(result.outcome).toBe(outcome);
    await expectAllKeys(env, result.referenceId, result.lines[0]?.delivered);
    expect(env.eventTypes(result.referenceId)).toEqual([`purchase.${outcome.toLowerCase()}`]);
  });

  it('delivers each line, and closes with what a list must show: state, order, debit, counts, key ids, event ids', async () => {
    const result = await env.bought({ 'demo-instant': 2, 'demo-image': 1 });
    expect(result).toMatchObject({ outcome: 'DELIVERED', lines: [{ delivered: 2 }, { delivered: 1 }] });
    await expectDeliveredOnce(env, result.referenceId, 3);

    const described = await env.handleOf(result.referenceId).describe();
    const attributes = [REFERENCE_ID, PARTNER_ORDER_ID, PURCHASE_STATE].map((key) =>
      described.typedSearchAttributes.get(key),
    );
    expect(attributes).toEqual([result.referenceId, result.orderId, 'DELIVERED']);
    expect(described.memo).toMatchObject({ totalDebit: result.totalDebit, ordered: 3, delivered: 3 });
    const memo = described.memo as { keyIds: Record<string, string[]>; events: { id: string }[] };
    expect(memo.keyIds['demo-instant']).toHaveLength(2);
    expect([...env.receiver.events.keys()]).toContain(memo.events[0]?.id);
  });
});
