import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startSandbox } from '../../../sandbox/index';
import { PARTNER_ORDER_ID, PURCHASE_STATE } from '../../../src/contracts/search-attributes';
import { closeAtEnd } from '../../support/clean-up';
import { operatorOf } from '../../support/operator';
import { starterEnvOf, starterProcess, startStarter } from '../../support/processes';
import { sharedEnvironment, startTestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

describe('the commands, run as real processes', () => {
  const env = sharedEnvironment({ sandbox: { agePerPollMs: 30_000 } });
  const run = (...args: string[]) => starterProcess(args, starterEnvOf(env));
  // Where there is no Temporal: these commands need none.
  const partner = (...args: string[]) =>
    starterProcess(args, {
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      PARTNER_BASE_URL: env.sandbox.url,
      PARTNER_API_KEY: 'sandbox-key',
    });

  it('purchase prints what it started, and the same command finds that purchase again', async () => {
    const referenceId = env.reference();
    const first = await run('purchase', referenceId, '--item', 'demo-instant:2', '--json');
    const { runId } = JSON.parse(first.stdout) as { runId: string };
    const known = { referenceId, workflowId: `purchase-${referenceId}`, runId };
    expect(JSON.parse(first.stdout)).toEqual({ ...known, started: true });
    expect(first.code).toBe(0);

    const second = await run('purchase', referenceId, '--item', 'demo-instant:2', '--json');
    expect(JSON.parse(second.stdout)).toEqual({ ...known, started: false });
    expect(second.code).toBe(0);
  });

  it('purchase --wait exits with 0 only when everything was delivered, and with 3 for every other outcome', async () => {
    const [whole, refunded] = await Promise.all([
      run('purchase', env.reference(), '--item', 'demo-instant:1', '--item', 'demo-image:1', '--wait', '--json'),
      run('purchase', env.reference(), '--item', 'demo-refunded:1', '--wait', '--json'),
    ]);
    expect(JSON.parse(whole.stdout)).toMatchObject({ started: true, result: { outcome: 'DELIVERED' } });
    expect(whole.code).toBe(0);
    expect(JSON.parse(refunded.stdout)).toMatchObject({ result: { outcome: 'REFUNDED' } });
    expect(refunded.code).toBe(3);
  });

  it('purchase --wait prints each new state to stderr, and what a held purchase is waiting for', async () => {
    const referenceId = env.reference();
    env.receiver.responseTo(referenceId, 410);
    const args = ['purchase', referenceId, '--item', 'demo-seconds:1', '--wait', '--json'];
    const waiting = startStarter(args, starterEnvOf(env));
    await waiting.said(`UTC  HELD: DELIVERY_REFUSED: the checkout rejected the event permanently (410)`);
    await waiting.said(`To decide: npx fulfilment status ${referenceId}`);
    await env.starter.resolve(referenceId, { decision: 'withhold' });
    const { code, stdout, stderr } = await waiting.ended;
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ result: { outcome: 'ABANDONED' } });
    expect(stderr).toMatch(
      /^started purchase-\S+ \(run \S+\); waiting for it to finish\n(\d\d:\d\d:\d\d UTC {2}[A-Z]+: .+\n)+$/,
    );
  });

  it('status of an unconfirmed purchase explains the state, the next step and the latest time of the decision', async () => {
    const settings = { replace: 'never', confirmWindowMs: 20_000 } as const;
    const unsure = await startTestEnvironment({ settings, pastOrders: 3 });
    const referenceId = await unsure.buyFacing({ operation: 'place', action: { type: 'reset' } });
    await unsure.untilState(referenceId, 'UNCONFIRMED');
    const { waitsFor } = await unsure.starter.status(referenceId);
    expect(waitsFor?.what).toMatch(
      /^the order history is searched; .+\. Decision expected at about 20\d\d-.+ UTC; if the history can't be read, no later than 20\d\d-.+ UTC$/,
    );
    expect(Date.parse(waitsFor?.until ?? '')).toBeGreaterThan(Date.now());
    const { stdout } = await run('status', referenceId);
    expect(stdout).toContain('it is unknown whether the partner accepted the order');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(` next: ${waitsFor?.what} `);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(121);
    expect(stdout).not.toContain(waitsFor?.until);

    await unsure.handleOf(referenceId).terminate();
    const unserved = env.reference();
    const idle = { taskQueue: unserved, typedSearchAttributes: [{ key: PURCHASE_STATE, value: 'UNCONFIRMED' }] };
    const workflow = await env.startRaw(unserved, idle);
    const none = await run('status', unserved);
    expect(none.stdout).toContain('how long that may take is unknown: no worker responded within 3 s');
    await workflow.terminate();
  });

  it('status of an unknown reference names the namespace and the server, and exits with 1, also with --json', async () => {
    const { code, stdout, stderr } = await run('status', 'nobody-knows-me', '--json');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^There is no purchase nobody-knows-me in namespace \S+ at \S+:\d+\. .*\n$/);
    expect(JSON.parse(stdout)).toEqual({ error: { name: 'PurchaseNotFoundError', message: stderr.trim() } });
  });

  it('status shows what a running purchase is waiting for: attempt, last message, next poll', async () => {
    const slow = await startTestEnvironment({ settings: { pollIntervalMs: 6_000 } });
    const referenceId = await slow.buy({ 'demo-never': 1 });
    await slow.untilState(referenceId, 'PENDING');
    const attempt = async () => (await slow.starter.status(referenceId)).pendingActivities[0];
    // The first attempt only waits out the interval after the first poll, which was a local activity.
    await waitUntil('the order was polled once', async () => {
      const { lastMessage, nextAttempt } = (await attempt()) ?? {};
      return nextAttempt !== undefined && lastMessage?.startsWith('the order is PENDING');
    });

    const { code, stdout } = await run('status', referenceId);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^T-\S+ {2}PENDING {2}order \S+\n {2}running, started 20\S+ \S+ UTC\n/);
    expect(stdout).toMatch(
      / {2}doing: pollUntilEnded, attempt \d+, last message: the order is PENDING; next poll in .+, next attempt 20\S+ \S+ UTC\n/,
    );
  });

  it('status shows a step that an operator paused, and the command that unpauses it', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    const operator = operatorOf(env, referenceId);
    await operator.pending('pollUntilEnded');
    await operator.pause('pollUntilEnded');
    const { stdout } = await run('status', referenceId);
    expect(stdout).toContain('PAUSED by an operator: pollUntilEnded, attempt');

    const command = stdout.split('\n').find((line) => line.includes('npm run temporal -- activity unpause'));
    const args = command!.trim().split(' ').slice(4);
    const address = ['--address', process.env.TEST_TEMPORAL_ADDRESS ?? ''];
    await promisify(execFile)(process.env.TEMPORAL_CLI ?? '', [...args, ...address]);
    await env.changeOrder(referenceId, { status: 'COMPLETED' });
    expect((await env.starter.result(referenceId)).outcome).toBe('DELIVERED');
  });

  it('status shows the outcome, debit, lines and received event of a purchase that has ended', async () => {
    const { referenceId, orderId } = await env.bought({ 'demo-partial': 4 });
    const words = await run('status', referenceId);
    expect(words.stdout).toContain(`${referenceId}  PARTIALLY_DELIVERED  order ${orderId}`);
    expect(words.stdout).toMatch(/received: purchase\.partially_delivered {2}evt_/);
    expect(words.stdout).toMatch(/2 of 4/);

    const json = await run('status', referenceId, '--json');
    const status = JSON.stringify(await env.starter.status(referenceId));
    expect(JSON.parse(json.stdout)).toEqual(JSON.parse(status));
    expect(json.stderr).toBe('');
  });

  it('status reports that no worker has picked up a purchase when no worker is running', async () => {
    const idle = await startTestEnvironment({ worker: false });
    const referenceId = await idle.buy({ 'demo-instant': 1 });
    expect(await idle.starter.status(referenceId)).toMatchObject({ state: 'STARTED', workflowStatus: 'RUNNING' });
    await expect(idle.starter.resolve(referenceId, { decision: 'abandon' })).rejects.toThrow(
      /is not held and waits for a/,
    );
    const { stdout } = await run('status', referenceId);
    expect(stdout).toContain(`no worker on task queue ${idle.taskQueue} has picked up its next step since 20`);
    expect(stdout).toContain('nothing has happened yet: no worker has picked it up');
    expect(stdout).not.toContain('is being placed');

    const waiting = startStarter(['purchase', referenceId, '--item', 'demo-instant:1', '--wait'], starterEnvOf(idle));
    await waiting.said(`No worker has continued it for 10 s. Details: npx fulfilment status ${referenceId}`);
    await idle.handleOf(referenceId).terminate();
    expect((await waiting.ended).code).toBe(1);
  });

  it('status of a workflow that a foreign client started prints nothing that could move the cursor or forge a line', async () => {
    const hostile = 'o\u001B[2J\nSALE-9  DELIVERED';
    const referenceId = env.reference();
    const workflow = await env.startRaw(referenceId, {
      taskQueue: 'nobody',
      memo: { events: [{ id: hostile, type: hostile, at: hostile }] },
      typedSearchAttributes: [
        { key: PARTNER_ORDER_ID, value: hostile },
        { key: PURCHASE_STATE, value: 'PENDING' },
      ],
    });
    const { orderId, deliveries } = await env.starter.status(referenceId);
    const clean = 'o [2J SALE-9  DELIVERED';
    expect({ orderId, deliveries }).toEqual({
      orderId: undefined,
      deliveries: [{ state: 'RECEIVED', type: clean, eventId: clean, at: clean }],
    });
    const { stdout } = await run('status', referenceId);
    expect(stdout).not.toContain('\u001B');
    expect(stdout).not.toMatch(/^SALE-9/m);
    await workflow.terminate();
  });

  it('purchase --wait of a terminated purchase says how it ended, and not that it is still pending', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    await env.untilState(referenceId, 'PENDING');
    await operatorOf(env, referenceId).terminate();
    const { code, stdout, stderr } = await run('purchase', referenceId, '--item', 'demo-never:1', '--wait');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('ended as TERMINATED');
    expect(stderr).not.toContain('PENDING');
  });

  it('purchase names the namespace and its server first, and says only once what it started', async () => {
    const referenceId = env.reference();
    const { stdout, stderr } = await run('purchase', referenceId, '--item', 'demo-instant:1', '--wait');
    expect(stderr).toMatch(/^namespace \S+ at \S+:\d+\nstarted purchase-\S+ \(run \S+\); waiting for it to finish\n/);
    expect(stdout).toMatch(new RegExp(`^${referenceId}  DELIVERED  order `));
    expect(`${stdout}${stderr}`.match(/started/g)).toHaveLength(1);
  });

  it('products and orders show a page, as text and as JSON', async () => {
    const [words, json, orders] = await Promise.all([
      partner('products', '--query', 'gift', '--in-stock', 'true', '--sort', 'PRICE_ASC', '--limit', '5'),
      partner('products', '--limit', '2', '--page', '2', '--json'),
      partner('orders', '--search', 'nothing-has-this-reference', '--json'),
    ]);
    expect(words.stdout.trimEnd().split('\n')).toHaveLength(6);
    expect(words.stdout).toMatch(/page 1 of \d+, \d+ in total\n$/);
    expect(JSON.parse(json.stdout)).toMatchObject({ pages: { page: 2, limit: 2 }, products: [{}, {}] });
    expect(JSON.parse(orders.stdout)).toMatchObject({ hits: 0, orders: [] });
    expect([words.code, json.code, orders.code]).toEqual([0, 0, 0]);
  });

  it('products --all and orders --all print all 20,000 rows, and exit quietly when the reader closes the pipe', async () => {
    const big = await startSandbox({ products: 20_000 });
    closeAtEnd(big.close);
    big.addPastOrders({ count: 20_000 });
    const variables = { PARTNER_BASE_URL: big.url, PARTNER_API_KEY: 'sandbox-key' };
    const products = await starterProcess(['products', '--all', '--limit', '500'], variables);
    expect(products.code).toBe(0);
    const ids = products.stdout.trimEnd().split('\n');
    expect(new Set(ids.map((line) => line.split(' ')[0])).size).toBe(20_016);

    const orders = await starterProcess(['orders', '--all', '--limit', '500', '--json'], variables);
    expect(orders.code).toBe(0);
    const document = JSON.parse(orders.stdout) as { hits: number; orders: { id: string }[] };
    expect(new Set(document.orders.map(({ id }) => id)).size).toBe(20_000);
    expect(document.hits).toBe(20_000);

    const head = startStarter(['orders', '--all', '--limit', '500'], variables);
    head.child.stdout?.once('data', () => head.child.stdout?.destroy());
    const ended = await head.ended;
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(ended.stdout.length).toBeLessThan(2_000_000);
  });
});
