import { RESOLVE_UPDATE } from '../../../src/contracts/names';
import type { PurchaseMemo } from '../../../src/contracts/purchase';
import { HOUR } from '../../support/settings';
import type { PurchaseFault } from '../../support/test-environment';
import { sharedTimeSkippingEnvironment } from '../../support/time-skipping';
import { waitUntil } from '../../support/wait-until';

/** The response is lost, and the partner has two orders, which causes an attention notice. */
const DOUBLED: PurchaseFault = {
  operation: 'place',
  when: 'after',
  action: { type: 'reset' },
  commit: { type: 'copies', count: 2 },
};

describe('a checkout that is down for more than a day, with time skipping', () => {
  const { env, server } = sharedTimeSkippingEnvironment();

  it('is tried for at least 24 hours, then held; deliver sends the same event again under its id', async () => {
    const referenceId = env.reference();
    env.receiver.responseTo(referenceId, 500);
    await env.buy({ 'demo-instant': 1 }, referenceId);
    const handle = env.handleOf(referenceId);
    const hold = async () => ((await handle.describe()).memo as PurchaseMemo | undefined)?.hold ?? undefined;
    const begun = await server.currentTimeMs();

    await server.sleep(24 * HOUR);
    expect(await hold()).toBeUndefined();
    await server.sleep(2 * HOUR);
    const held = await waitUntil('it is held', hold);

    expect(held).toMatchObject({ reason: 'DELIVERY_EXHAUSTED', decisions: ['deliver', 'withhold'] });
    expect(held.explanation).toContain('for 25 hours');
    expect((await server.currentTimeMs()) - begun).toBeGreaterThanOrEqual(24 * HOUR);
    const tries = env.receiver.attempts.filter(({ body }) => body.type === 'purchase.delivered');
    expect(tries.length).toBeGreaterThan(100);

    env.receiver.take(referenceId);
    await handle.executeUpdate(RESOLVE_UPDATE, { args: [{ holdId: held.id, decision: 'deliver' }] });

    expect(await handle.result()).toMatchObject({ outcome: 'DELIVERED' });
    expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
    expect([...env.receiver.events.keys()]).toContain(tries[0]!.id);
  });

  it('receives an attention notice as well when it is up again, hours after it was first sent', async () => {
    env.receiver.respondWith(() => 503);
    const referenceId = await env.buyFacing(DOUBLED, { 'demo-instant': 1 });
    await server.sleep(3 * HOUR);
    expect(env.eventTypes(referenceId)).toEqual([]);

    env.receiver.respondWith(() => 204);
    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
    expect(env.eventTypes(referenceId).toSorted()).toEqual(['purchase.attention', 'purchase.delivered']);
  });

  it('does not keep a purchase from ending when it refuses an attention notice forever', async () => {
    env.receiver.respondWith(({ body }) => (body.type === 'purchase.attention' ? 503 : 204));
    const referenceId = await env.buyFacing(DOUBLED, { 'demo-instant': 1 });

    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
    expect(env.eventTypes(referenceId)).toEqual(['purchase.delivered']);
  });
});
