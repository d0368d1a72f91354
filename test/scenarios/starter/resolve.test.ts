import { rejectionOf } from '../../support/checks';
import { DecisionRefusedError, NoResponseError, FulfilmentError } from '../../../src/starter/index';
import { createStarter } from '../../../src/starter/create-starter';
import { heldPurchase } from '../../support/held-purchases';
import { starterEnvOf, starterProcess } from '../../support/processes';
import { sharedEnvironment } from '../../support/test-environment';

describe('resolve', () => {
  const env = sharedEnvironment({
    settings: { replace: 'never', confirmWindowMs: 100 },
    sandbox: { agePerPollMs: 30_000 },
    pastOrders: 1,
  });
  const run = (...args: string[]) => starterProcess(args, starterEnvOf(env));

  /** A purchase whose placement got no answer and no order. */
  const held = () => heldPurchase(env, 'PLACEMENT_UNKNOWN');

  it('accepts a command as status prints it: status shows the problem and the exact commands, and one places the order again', async () => {
    const { referenceId } = await held();
    const { code, stdout } = await run('status', referenceId);
    expect(code).toBe(0);
    expect(stdout).toContain(`${referenceId}  HELD\n`);
    expect(stdout).toMatch(
      /waiting for your decision since 20\S+ \S+ UTC \(PLACEMENT_UNKNOWN\): .+ and the order history shows no order\n {2}check, then decide:\n/,
    );
    const commands = stdout.split('\n').filter((line) => line.includes('npx fulfilment resolve'));
    expect(commands.map((line) => line.trim().split(/\s+/)[4])).toEqual(['--order', '--replace', '--abandon']);
    expect(stdout).toMatch(
      /:\n {4}# check first: ask the partner whether it has an order for this reference\n.+ orders --search .+\n.+ --order .+\n.+ --replace .+spends money\)\n/,
    );

    const typed = commands[1]!.split('#')[0]!.trim().split(/\s+/).slice(2);
    const resolved = await run(...typed);
    expect(resolved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'decision accepted: place the order again (held because of PLACEMENT_UNKNOWN)',
      ) as string,
    });
    expect((await env.starter.result(referenceId)).outcome).toBe('DELIVERED');
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(2);
    expect(await env.sandbox.ordersOf(referenceId)).toHaveLength(1);
  });

  it('--order adopts the order that an operator found at the partner, and buys nothing', async () => {
    const { referenceId, hold, right: orderId } = await held();

    const { code, stdout } = await run('resolve', referenceId, '--order', orderId, '--json');
    expect(code).toBe(0);
    const workflowId = `purchase-${referenceId}`;
    expect(JSON.parse(stdout)).toEqual({ referenceId, workflowId, hold, decision: 'order', orderId });
    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED', orderId });
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(1);
  });

  it('--order is refused while the partner cannot be read, and accepted when it is repeated later', async () => {
    const { referenceId, right: orderId } = await held();
    env.sandbox.addFault({ operation: 'keys', orderId, action: { type: 'answer', status: 403 } });
    const resolve = () => env.starter.resolve(referenceId, { decision: 'order', orderId });

    const refused = await rejectionOf(resolve());
    expect(refused).toMatchObject({ refusal: 'ORDER_UNUSABLE' });
    expect(refused?.message).toBe(
      `The decision on ${referenceId} was refused: order ${orderId} could not be checked (the partner returned 403: access denied): try again.`,
    );
    expect(await resolve()).toMatchObject({ decision: 'order', orderId });
    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED', orderId });
  });

  it('is not blocked by a refused update that another client sent earlier under a guessed id', async () => {
    const { referenceId, hold } = await held();
    const decision = { holdId: 'another hold', decision: 'abandon' };
    const sent = env.handleOf(referenceId).executeUpdate('resolve', {
      args: [decision],
      updateId: `${hold.id} abandon`,
    });
    await expect(sent).rejects.toThrow('Workflow Update failed');

    expect(await env.starter.resolve(referenceId, { decision: 'abandon' })).toMatchObject({ decision: 'abandon' });
    expect((await env.starter.result(referenceId)).outcome).toBe('ABANDONED');
  });

  it('lists the possible decisions when it gets another one, and changes nothing', async () => {
    const { referenceId } = await held();
    const { code, stdout, stderr } = await run('resolve', referenceId, '--withhold');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('withhold is not possible for PLACEMENT_UNKNOWN');
    expect(stderr).toMatch(/--order ORDER_ID[^]*--replace[^]*--abandon/);
    await expect(env.starter.resolve(referenceId, { decision: 'withhold' })).rejects.toThrow(DecisionRefusedError);
    expect((await env.starter.status(referenceId)).state).toBe('HELD');

    const another = env.starter.resolve(referenceId, { decision: 'abandon', holdId: 'run:9' });
    await expect(another).rejects.toThrow('hold run:9 is no longer open');
    await expect(another).rejects.toMatchObject({ refusal: 'OTHER_HOLD' });
    const { hold } = await env.starter.status(referenceId);
    await env.starter.resolve(referenceId, { decision: 'abandon', holdId: hold?.id });
    await env.starter.result(referenceId);
  });

  it('--hold, as `status` prints it, decides only that hold', async () => {
    const { referenceId, hold } = await held();
    const { stdout: shown } = await run('status', referenceId);
    const [, id = ''] = shown.match(/ --hold (\S+) /) ?? [];
    expect(id).toBe(hold.id);

    const late = await run('resolve', referenceId, '--abandon', '--hold', `${id}0`);
    expect(late.code).toBe(1);
    expect(late.stderr).toContain(`hold ${id}0 is no longer open`);
    expect((await env.starter.status(referenceId)).state).toBe('HELD');

    expect((await run('resolve', referenceId, '--abandon', '--hold', id)).code).toBe(0);
    expect((await env.starter.result(referenceId)).outcome).toBe('ABANDONED');
  });

  it('accepts only one of two simultaneous decisions, and refuses the other with an error', async () => {
    const { referenceId } = await held();
    const twice = [1, 2].map(() => env.starter.resolve(referenceId, { decision: 'replace' }));
    const ends = (await Promise.allSettled(twice)).toSorted((a, b) => (a.status < b.status ? -1 : 1));
    expect(ends).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected' }]);
    const { reason } = ends[1] as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(DecisionRefusedError);
    expect(['ALREADY_DECIDED', 'NOT_HELD']).toContain((reason as DecisionRefusedError).refusal);

    expect((await env.starter.result(referenceId)).outcome).toBe('DELIVERED');
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(2);
  });

  it('reports that nothing is held, both for a purchase that is still running and for one that has ended', async () => {
    const running = await env.buy({ 'demo-never': 1 });
    const { referenceId: ended } = await env.bought({ 'demo-instant': 1 });
    const [open, closed] = [await run('resolve', running, '--replace'), await run('resolve', ended, '--replace')];

    expect([open.code, closed.code]).toEqual([1, 1]);
    expect(open.stderr).toContain('the purchase is not held and continues by itself');
    expect(closed.stderr).toContain('the purchase has ended as DELIVERED');
    await env.handleOf(running).terminate();
  });

  it('refuses an order id that would change a path before it sends a request', async () => {
    const refused = env.starter.resolve('never-1', { decision: 'order', orderId: '..' });
    await expect(refused).rejects.toThrow(FulfilmentError);
    await expect(refused).rejects.toThrow(/^orderId: expected /);
  });

  it('stops waiting when no worker is running, and says that the decision may still be processed', async () => {
    const referenceId = env.reference('held');
    // Stands in for a held purchase whose workers are gone: its memo is all that is asked before a worker is needed.
    const known = { id: 'x:1', explanation: 'why', decisions: ['abandon'], since: '2026-01-01T00:00:00Z' };
    const handle = await env.startRaw(referenceId, {
      taskQueue: `nobody-${referenceId}`,
      memo: { hold: { ...known, reason: 'PLACEMENT_UNKNOWN' } },
    });
    const impatient = createStarter(env.client, { timeoutMs: 500 });
    const asked = impatient.resolve(referenceId, { decision: 'abandon' });

    await expect(asked).rejects.toThrow(NoResponseError);
    await expect(asked).rejects.toThrow(/No worker processed the decision .* in time/);
    await expect(asked).rejects.toMatchObject({ isSafeToRepeat: false });
    await handle.terminate();
  });
});
