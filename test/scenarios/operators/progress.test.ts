import { purchaseWorkflowId, STATUS_QUERY } from '../../../src/contracts/names';
import type { StatusQueryResult } from '../../../src/contracts/purchase';
import { summariesOf } from '../../support/history';
import { heldPurchase } from '../../support/held-purchases';
import { operatorOf } from '../../support/operator';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

describe('a purchase as an operator sees it in the Temporal UI', () => {
  const env = sharedEnvironment({
    settings: { replace: 'never', confirmWindowMs: 100, firstPollMs: 0 },
    sandbox: { agePerPollMs: 30_000 },
    pastOrders: 3,
  });
  const ask = (referenceId: string) => env.handleOf(referenceId).query<StatusQueryResult>(STATUS_QUERY);
  const details = async (referenceId: string) => {
    const { currentDetails } = await env
      .handleOf(referenceId)
      .query<{ currentDetails: string }>('__temporal_workflow_metadata');
    return currentDetails;
  };

  it('shows state, items, order, last poll, next step and cancel request, no matter which client started it', async () => {
    const referenceId = env.reference();
    await env.startRaw(referenceId, { args: [{ referenceId, items: [{ productId: 'demo-never', quantity: 2 }] }] });
    await operatorOf(env, referenceId).pending('pollUntilEnded', 2);
    const { id } = await env.orderOf(referenceId);

    const open = await ask(referenceId);
    expect(open).toMatchObject({
      referenceId,
      items: [{ productId: 'demo-never', quantity: 2 }],
      state: 'PENDING',
      orderId: id,
      waitsFor: { what: expect.stringContaining('polled every 0.05 s') as string },
      lastPoll: { status: 'PENDING' },
      cancelRequested: false,
    });
    expect(Date.parse(open.since)).toBeLessThanOrEqual(Date.parse(open.lastPoll!.at));
    const shown = await details(referenceId);
    for (const part of ['**PENDING** since', '2 × demo-never', `order ${id}`, '**Next:**'])
      expect(shown).toContain(part);

    await env.handleOf(referenceId).cancel();
    await waitUntil('it knows of the cancel', async () => (await ask(referenceId)).cancelRequested);
    expect(await details(referenceId)).toContain('**Cancel:** requested. An order exists');
  });

  it('names the hold and its decisions; after the end the same query returns the same shape', async () => {
    const { referenceId, hold } = await heldPurchase(env, 'PLACEMENT_UNKNOWN');

    const held = await ask(referenceId);
    expect(held).toMatchObject({ state: 'HELD', since: hold.since, hold, explanation: hold.explanation });
    expect(await details(referenceId)).toContain(`npx fulfilment resolve ${referenceId} --replace`);

    await env.starter.resolve(referenceId, { decision: 'replace' });
    const result = await env.starter.result(referenceId);
    const ended = await ask(referenceId);
    expect(Object.keys(held)).toEqual(
      expect.arrayContaining(['referenceId', 'items', 'state', 'since', 'explanation']),
    );
    expect(ended).toMatchObject({ referenceId, state: 'DELIVERED', result, cancelRequested: false });
    expect([ended.hold, ended.waitsFor]).toEqual([undefined, undefined]);
    expect(ended.events.map(({ type }) => type)).toContain('purchase.delivered');
    expect(await details(referenceId)).toMatch(/^\*\*DELIVERED\*\* since .+\n\n[^]+Nothing to do/);
  });

  it('has a summary on every activity and timer, also in the late delivery after its end', async () => {
    const referenceId = env.reference();
    env.sandbox.addFault({ operation: 'place', referenceId, when: 'after', action: { type: 'reset' } });
    await env.bought({ 'demo-partial': 2 }, referenceId);
    await env.starter.redeliver(referenceId);
    for (const workflowId of [purchaseWorkflowId(referenceId), `deliver-${referenceId}`]) {
      const summaries = await summariesOf(env, workflowId);
      expect(summaries.length).toBeGreaterThan(2);
      expect(summaries.filter(({ summary }) => !summary)).toEqual([]);
    }
  });

  it('accepts products with ids of 200 letters, although a summary shows only some of them', async () => {
    const items = Object.fromEntries(['a', 'b', 'c'].map((letter) => [letter.repeat(200), 1]));
    const { referenceId, outcome } = await env.bought(items);
    expect(outcome).toBe('REJECTED');
    const description = await env.handleOf(referenceId).describe();
    expect(Buffer.byteLength((await description.staticSummary()) ?? '')).toBeLessThanOrEqual(200);
    expect(await description.staticDetails()).toContain(`npx fulfilment status ${referenceId}`);
  });
});
