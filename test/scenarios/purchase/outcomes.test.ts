import { PARTNER_ORDER_ID, PURCHASE_STATE, REFERENCE_ID } from '../../../src/contracts/search-attributes';
import { expectAllKeys, expectDeliveredOnce } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';

describe('a purchase and the final status of its order', () => {
  const env = sharedEnvironment({ sandbox: { agePerPollMs: 30_000 } });

  it.each([
    ['demo-seconds', 1, 'DELIVERED'],
    ['demo-partial', 4, 'PARTIALLY_DELIVERED'],
    ['demo-short', 3, 'PARTIALLY_DELIVERED'],
    ['demo-refunded', 1, 'REFUNDED'],
    ['demo-failed', 1, 'FAILED'],
    ['demo-strange', 1, 'DELIVERED'],
    ['demo-flapping', 1, 'DELIVERED'],
    ['demo-out-of-stock', 1, 'REJECTED'],
  ] as const)('%s × %i ends %s, with all issued keys and no others', async (product, quantity, outcome) => {
    const result = await env.bought({ [product]: quantity });

    expect(result.outcome).toBe(outcome);
    await expectAllKeys(env, result.referenceId, result.lines[0]?.delivered);
    expect(env.eventTypes(result.referenceId)).toEqual([`purchase.${outcome.toLowerCase()}`]);
  });

  it('REJECTED says why: the status, the error code if it is a known one, and the trace id to quote to the partner', async () => {
    const { reason } = await env.bought({ 'demo-out-of-stock': 1 });
    expect(reason).toMatch(/^the partner returned 422 \(insufficient_stock\), trace id [0-9a-f]{32}$/);

    const referenceId = env.reference();
    const body = { details: { data: { code: 'KEY-A-B' }, extensions: { trace_id: 'KEY-C-D' } } };
    const action = { type: 'answer', status: 422, body } as const;
    env.sandbox.addFault({ operation: 'place', referenceId, when: 'before', action });
    const other = await env.bought({ 'demo-instant': 1 }, referenceId);
    expect(other).toMatchObject({ outcome: 'REJECTED', reason: 'the partner returned 422' });
  });

  it.each([
    { balance: 1000, total_debit: '1.50' },
    { balance: { balance: 2 ** 53, credit_limit: 'unlimited' } },
    { products: [{ id: 'demo-never', title: 7, quantity: '2', keys: [{ value: 'KEY-A' }, { value: 'KEY-B' }] }] },
  ])('delivers the keys of an order with %j and leaves out the invalid optional fields', async (data) => {
    env.sandbox.addFault({ operation: 'keys', when: 'after', times: 'always', action: { type: 'merge', data } });
    const { referenceId, orderId } = await env.opened({ 'demo-never': 2 });
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [['KEY-A', 'KEY-B']] });
    const result = await env.starter.result(referenceId);
    env.sandbox.clearFaults();

    expect(result).toMatchObject({ outcome: 'DELIVERED' });
    expect(result.totalDebit === undefined).toBe('total_debit' in data);
    expect((await env.audit(referenceId)).received).toEqual(['KEY-A', 'KEY-B']);
  });

  it('delivers a key that is part of its product id, and again when redelivered', async () => {
    const { referenceId, orderId } = await env.opened({ 'demo-never': 1 });
    await env.sandbox.changeOrder(orderId, { status: 'COMPLETED', keys: [['o-never']] });

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
    await env.starter.redeliver(referenceId);
    const lines = env.receiver.attemptsOf(referenceId).map(({ body }) => body.data.lines);
    const sold = [{ productId: 'demo-never', keys: [{ value: 'o-never' }] }];
    expect(lines).toMatchObject([sold, sold]);
  });

  it('sends only texts that every language can encode, and never cuts a character in two', async () => {
    const title = `${'x'.repeat(199)}🎮\u202E\u001B[2J\uD83D`;
    const products = [{ id: 'demo-instant', title, quantity: 1, keys: [{ value: 'KEY-OF-A-GAME' }] }];
    const action = { type: 'merge', data: { products } } as const;
    env.sandbox.addFault({ operation: 'keys', when: 'after', times: 'always', action });
    const { referenceId, lines } = await env.bought({ 'demo-instant': 1 });
    env.sandbox.clearFaults();

    const cut = `${'x'.repeat(199)}…`;
    expect(lines).toMatchObject([{ title: cut }]);
    expect(env.receiver.eventsOf(referenceId)).toMatchObject([{ data: { lines: [{ title: cut }] } }]);
  });

  it('delivers each line, and ends with the data that lists must show: state, order, debit, counts, key ids, event ids', async () => {
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
