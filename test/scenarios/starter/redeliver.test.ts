import { PURCHASE_STATE } from '../../../src/contracts/search-attributes';
import { NoResponseError, NothingToRedeliverError, RedeliveryFailedError } from '../../../src/starter/index';
import { createStarter } from '../../../src/starter/create-starter';
import { rejectionOf } from '../../support/checks';
import { makeTooLarge } from '../../support/held-purchases';
import { starterEnvOf, starterProcess } from '../../support/processes';
import { expectAllKeys } from '../../support/purchase-checks';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

describe('redeliver', () => {
  const env = sharedEnvironment({ sandbox: { agePerPollMs: 30_000 } });
  const run = (...args: string[]) => starterProcess(args, starterEnvOf(env));

  afterAll(() => expect(env.receiver.refused).toBe(0));

  const eventsOf = (referenceId: string) => env.receiver.attemptsOf(referenceId);

  it.each([
    ['demo-instant', 2, 'purchase.delivered'],
    ['demo-image', 1, 'purchase.delivered'],
    ['demo-partial', 4, 'purchase.partially_delivered'],
    ['demo-failed', 1, 'purchase.failed'],
    ['demo-out-of-stock', 1, 'purchase.rejected'],
  ])(
    'resends the event of %s × %i under the same id with the same data, and buys nothing',
    async (product, quantity, type) => {
      const { referenceId } = await env.bought({ [product]: quantity });
      const requests = env.sandbox.placeRequestsOf(referenceId);
      const redelivery = await env.starter.redeliver(referenceId);

      const [first, second, ...more] = eventsOf(referenceId);
      expect(second).toMatchObject({ id: first?.id, body: { type, data: first?.body.data } });
      expect(more).toEqual([]);
      expect(redelivery.events).toEqual([{ id: first?.id, type, at: second?.body.timestamp }]);
      expect(env.sandbox.placeRequestsOf(referenceId)).toBe(requests);
    },
  );

  it('resends as often as requested, and status lists each delivery', async () => {
    const { referenceId } = await env.bought({ 'demo-instant': 1 });
    const first = await run('redeliver', referenceId);
    const second = await run('redeliver', referenceId, '--json');

    const id = eventsOf(referenceId)[0]!.id;
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toMatch(
      new RegExp(`^order \\S+ is COMPLETED\nthe checkout received purchase.delivered ${id}\n$`),
    );
    expect(second.code).toBe(0);
    const workflowId = `deliver-${referenceId}`;
    expect(JSON.parse(second.stdout)).toMatchObject({ referenceId, workflowId, events: [{ id }] });
    expect(eventsOf(referenceId).map((attempt) => attempt.id)).toEqual([id, id, id]);
    const received = { state: 'RECEIVED', type: 'purchase.delivered', eventId: id };
    // Lists lag a little.
    const deliveries = await waitUntil('three deliveries are listed', async () => {
      const listed = (await env.starter.status(referenceId)).deliveries;
      return listed.length >= 3 && listed;
    });
    expect(deliveries).toMatchObject([received, received, received]);
  });

  it('refuses a running or a held purchase, and says what to do instead', async () => {
    const running = await env.buy({ 'demo-never': 1 });
    const nothing = await rejectionOf(env.starter.redeliver(running));
    expect(nothing).toBeInstanceOf(NothingToRedeliverError);
    expect(nothing).toMatchObject({ referenceId: running });
    const { code, stderr } = await run('redeliver', running);
    expect(code).toBe(1);
    expect(stderr).toContain('is still running. It delivers by itself');
    await env.handleOf(running).terminate();
    await expect(env.starter.redeliver(running)).rejects.toThrow(/ended as TERMINATED .*nothing to send again/);

    const refused = env.reference();
    env.receiver.responseTo(refused, 410);
    await env.buy({ 'demo-instant': 1 }, refused);
    await env.untilState(refused, 'HELD');
    const held = await run('redeliver', refused);
    expect(held.code).toBe(1);
    expect(held.stderr).toMatch(/is held .*410[^]*resolve \S+ --deliver[^]*--withhold/);

    const explanation = 'it holds a\u001B[2J\nforged';
    const hold = { id: 'h', reason: 'OTHER_ITEMS', explanation, decisions: ['abandon'], since: '2026-01-01T00:00:00Z' };
    const hostile = env.reference();
    const unserved = await env.startRaw(hostile, { taskQueue: hostile, memo: { hold } });
    await expect(env.starter.redeliver(hostile)).rejects.toThrow('is held (it holds a [2J forged). Decide');
    await unserved.terminate();

    await env.starter.resolve(refused, { decision: 'withhold' });
    await env.starter.result(refused);
    env.receiver.take(refused);
    expect((await env.starter.redeliver(refused)).events).toMatchObject([{ type: 'purchase.abandoned' }]);
  });

  it('fails with the response of the checkout when the event is refused permanently, and can be repeated', async () => {
    const { referenceId } = await env.bought({ 'demo-instant': 1 });
    env.receiver.responseTo(referenceId, 410);
    const refused = await run('redeliver', referenceId);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('failed: the checkout rejected the event permanently (410)');
    const failed = await rejectionOf(env.starter.redeliver(referenceId));
    expect(failed).toBeInstanceOf(RedeliveryFailedError);
    expect(failed).toMatchObject({ referenceId });

    env.receiver.take(referenceId);
    expect((await env.starter.redeliver(referenceId)).events).toHaveLength(1);
  });

  it('fails at once for an order that is too large to read, and names the setting', async () => {
    const { referenceId, orderId = '' } = await env.bought({ 'demo-instant': 1 });
    makeTooLarge(env, orderId);
    const { code, stderr } = await run('redeliver', referenceId);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `The delivery of ${referenceId} failed: the response is larger than PARTNER_MAX_BODY\nTo see its state: npx fulfilment status ${referenceId}\n`,
    });
  });

  it('stops waiting for a checkout that stays down, and the next call waits for the same delivery', async () => {
    const { referenceId } = await env.bought({ 'demo-instant': 1 });
    env.receiver.responseTo(referenceId, 500);
    const impatient = createStarter(env.client, { taskQueue: env.taskQueue, timeoutMs: 8_000 });
    const asked = impatient.redeliver(referenceId);
    await expect(asked).rejects.toThrow(NoResponseError);
    await expect(asked).rejects.toThrow(
      /has started and continues, but the checkout did not accept it in time .*returned 500/,
    );

    const second = env.starter.redeliver(referenceId);
    env.receiver.take(referenceId);
    const delivery = env.client.workflow.getHandle(`deliver-${referenceId}`);
    const { runId } = await delivery.describe();
    expect((await second).events).toHaveLength(1);
    expect((await delivery.describe()).runId).toBe(runId);
  });

  it('does not blame the checkout if the partner is down, because nothing was sent', async () => {
    const { referenceId, orderId } = await env.bought({ 'demo-instant': 1 });
    const action = { type: 'answer', status: 503 } as const;
    env.sandbox.addFault({ operation: 'keys', orderId, times: 'always', action });
    const impatient = createStarter(env.client, { taskQueue: env.taskQueue, timeoutMs: 8_000 });
    await expect(impatient.redeliver(referenceId)).rejects.toThrow(
      /has started and continues, but it did not end in time \(.*503.*\)/,
    );
    expect(eventsOf(referenceId)).toHaveLength(1);
  });

  describe('of an overdue purchase, whose order is read first', () => {
    const late = sharedEnvironment({ settings: { deadlineMs: 500, pollIntervalMs: 100 } });
    const runLate = (...args: string[]) => starterProcess(args, starterEnvOf(late));

    it('repeats the event while there are no keys, then delivers the keys that have arrived, each under one id', async () => {
      const { referenceId, orderId = '' } = await late.bought({ 'demo-never': 2 });
      const status = await runLate('status', referenceId);
      expect(status.stdout).toContain(`npx fulfilment redeliver ${referenceId}`);

      const { code, stdout } = await runLate('redeliver', referenceId);
      expect(code).toBe(0);
      expect(stdout).toMatch(
        new RegExp(`^order ${orderId} is PENDING\nits order has no keys to deliver, so its state was sent`),
      );
      expect(stdout).toContain('the checkout received purchase.overdue evt_');
      expect(late.eventTypes(referenceId)).toEqual(['purchase.overdue']);

      await late.changeOrder(referenceId, { status: 'COMPLETED' });
      const first = await late.starter.redeliver(referenceId);
      const second = await late.starter.redeliver(referenceId);
      expect(first.order).toEqual({ id: orderId, status: 'COMPLETED' });
      expect(first.events.map(({ type }) => type)).toEqual(['purchase.late_delivery']);
      expect(second.events).toMatchObject([{ id: first.events[0]!.id }]);
      await expectAllKeys(late, referenceId, 2);
      expect(late.receiver.attemptsAt(first.events[0]!.id)).toBe(2);
    });

    it('leaves nothing to do in status and list once the keys have arrived, and the delivery shows the new state', async () => {
      const { referenceId } = await late.bought({ 'demo-never': 2 });
      await late.changeOrder(referenceId, { status: 'COMPLETED' });
      await late.starter.redeliver(referenceId);
      const delivery = await late.client.workflow.getHandle(`deliver-${referenceId}`).describe();
      expect(delivery.typedSearchAttributes.get(PURCHASE_STATE)).toBe('DELIVERED');

      const listed = await waitUntil('the list shows the delivery', async () => {
        const { purchases } = await late.starter.list({ state: 'OVERDUE' });
        const one = purchases.find((purchase) => purchase.referenceId === referenceId);
        return one?.afterEnd && one;
      });
      expect(listed).toMatchObject({ state: 'DELIVERED', outcome: 'OVERDUE', commands: [] });
      expect(await late.starter.status(referenceId)).toMatchObject({
        state: 'DELIVERED',
        result: { outcome: 'OVERDUE' },
      });
      // The delivery itself is no purchase.
      const delivered = await late.starter.list({ state: 'DELIVERED' });
      expect(delivered.purchases.filter((purchase) => purchase.workflowId.startsWith('deliver-'))).toEqual([]);

      const { stdout } = await runLate('status', referenceId);
      expect(stdout).toMatch(
        / {2}since 20\S+ \S+ UTC, after its end: DELIVERED\. Nothing is left to do\.\n {4}2 of 2 {2}/,
      );
      expect(stdout).not.toContain('npx fulfilment redeliver');
      const list = await runLate('list', '--state', 'OVERDUE');
      expect(list.stdout).toContain('by a late delivery: nothing is left to do\n');
    });

    it('exits with 1 if the order must not be delivered as it is, and does not claim that something was sent', async () => {
      const { referenceId, orderId } = await late.bought({ 'demo-never': 1 });
      await late.changeOrder(referenceId, { status: 'COMPLETED', keys: [['A', 'B']] });
      expect(await runLate('redeliver', referenceId)).toMatchObject({
        code: 1,
        stdout: `order ${orderId} is COMPLETED, but the order contains 2 keys of demo-never; ordered: 1\nnothing was sent\n`,
      });
      expect(late.eventTypes(referenceId)).toEqual(['purchase.overdue']);
      // It completed without an event, which is no failure.
      await late.untilListed(`WorkflowId = 'deliver-${referenceId}' AND ExecutionStatus = 'Completed'`, 1);
      const { deliveries } = await late.starter.status(referenceId);
      expect(deliveries).toMatchObject([{ type: 'purchase.overdue', state: 'RECEIVED' }]);
    });

    it('stays available in status while the order is still open after a delivery', async () => {
      const { referenceId } = await late.bought({ 'demo-never': 2 });
      await late.starter.redeliver(referenceId);
      const { stdout } = await runLate('status', referenceId);
      expect(stdout).toContain(`npx fulfilment redeliver ${referenceId}`);
      expect(stdout).not.toContain('Nothing is left to do');
    });
  });
});
