import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import { PARTNER_ORDER_ID, PURCHASE_STATE, REFERENCE_ID } from '../../../src/contracts/search-attributes';
import type { PurchaseList } from '../../../src/starter/index';
import { operatorOf } from '../../support/operator';
import { starterEnvOf, starterProcess } from '../../support/processes';
import { sharedEnvironment } from '../../support/test-environment';
import { UNDECODABLE_VALUES } from '../../support/undecodable';
import { waitUntil } from '../../support/wait-until';

describe('list', () => {
  const env = sharedEnvironment({
    ownNamespace: true,
    settings: { replace: 'never', confirmWindowMs: 100 },
    sandbox: { agePerPollMs: 30_000 },
    pastOrders: 3,
  });
  const run = (...args: string[]) => starterProcess(args, starterEnvOf(env));
  const references = ({ purchases }: PurchaseList) => purchases.map(({ referenceId }) => referenceId).toSorted();
  const known = { held: '', open: '', delivered: '', terminated: '', reset: '' };

  beforeAll(async () => {
    for (const name of ['held', 'reset'] as const) {
      known[name] = await env.buyFacing({ operation: 'place', action: { type: 'reset' } });
    }
    known.open = await env.buy({ 'demo-never': 1 });
    known.terminated = await env.buy({ 'demo-never': 1 });
    known.delivered = (await env.bought({ 'demo-instant': 1 })).referenceId;
    await Promise.all([known.held, known.reset].map((id) => operatorOf(env, id).held('PLACEMENT_UNKNOWN')));
    await Promise.all([known.open, known.terminated].map((id) => env.untilState(id, 'PENDING')));
    await operatorOf(env, known.terminated).terminate();
    // Its first run is then terminated, and the purchase goes on.
    const operator = operatorOf(env, known.reset);
    await operator.reset((await operator.points()).at(-1)!);
    await operator.held('PLACEMENT_UNKNOWN');
    await waitUntil('lists show it all', async () => {
      const states = ['HELD', 'PENDING', 'DELIVERED'] as const;
      const counts = await Promise.all(
        states.map(async (state) => (await env.starter.list({ state })).purchases.length),
      );
      const { count } = await env.client.workflow.count("ExecutionStatus = 'Terminated'");
      return counts.join() === '2,1,1' && count === 2;
    });
  });

  it('shows purchases that are held or ended without a result, each with its possible commands, and omits the others', async () => {
    const list = await env.starter.list();
    expect(references(list)).toEqual([known.held, known.reset, known.terminated].toSorted());
    expect(list.moreCount).toBe(0);
    const [held, terminated] = [known.held, known.terminated].map((id) =>
      list.purchases.find(({ referenceId }) => referenceId === id),
    );
    const { hold } = await env.starter.status(known.held);
    expect(held).toMatchObject({ state: 'HELD', since: hold!.since, hold, workflowStatus: 'RUNNING' });
    expect(held!.explanation).toBe(hold!.explanation);
    expect(held!.commands.map((line) => (line.startsWith('#') ? line : line.split(/\s+/)[4]))).toEqual([
      '# check first: ask the partner whether it has an order for this reference',
      known.held,
      '--order',
      '--replace',
      '--abandon',
    ]);
    expect(terminated).toMatchObject({
      state: 'ENDED_WITHOUT_RESULT',
      workflowStatus: 'TERMINATED',
      explanation: expect.stringContaining('may have an order') as string,
    });
    expect(terminated!.commands).toEqual([
      expect.stringMatching(`orders --search ${known.terminated} `),
      expect.stringMatching(`redeliver ${known.terminated} `),
    ]);
  });

  it('filters purchases by state and age, and counts those beyond the limit', async () => {
    const open = await env.starter.list({ state: 'PENDING' });
    expect(open.purchases).toMatchObject([{ referenceId: known.open, orderId: expect.any(String) as string }]);
    expect(references(await env.starter.list({ state: 'DELIVERED', maxAgeMs: 3_600_000 }))).toEqual([known.delivered]);
    expect(await env.starter.list({ state: 'DELIVERED', maxAgeMs: 1 })).toEqual({ purchases: [], moreCount: 0 });
    expect(await env.starter.list({ state: 'HELD', maxAgeMs: 1 })).toEqual({ purchases: [], moreCount: 0 });
    expect(await env.starter.list({ state: 'HELD', limit: 1 })).toMatchObject({ purchases: [{}], moreCount: 1 });
  });

  it('prints the purchases as text and as JSON', async () => {
    const [words, json, none, wrong] = await Promise.all([
      run('list'),
      run('list', '--state', 'held', '--json'),
      run('list', '--state', 'OVERDUE', '--since', '8h'),
      run('list', '--state', 'LOST'),
    ]);
    expect(words.code).toBe(0);
    expect(words.stdout).toMatch(
      new RegExp(
        `^${known.held}  HELD since 20\\d\\d-.+ UTC\n  PLACEMENT_UNKNOWN: .+\n    # check first: .+\n    npx fulfilment orders --search`,
        'm',
      ),
    );
    expect(words.stdout).toMatch(/\n3 purchases need attention\n$/);
    expect(references(JSON.parse(json.stdout) as PurchaseList)).toEqual([known.held, known.reset].toSorted());
    expect(none.stdout).toBe('0 purchases in state OVERDUE, in the last 8h\n');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('expected one of PLACING,') as string });
  });

  it('shows a purchase with hostile data without any command, and still shows the others', async () => {
    const referenceId = 'x; rm -rf ~ \u001B[2J';
    const { hold } = await env.starter.status(known.held);
    const unserved = await env.startRaw(referenceId, {
      taskQueue: 'nobody',
      memo: { hold, note: UNDECODABLE_VALUES[1] },
      typedSearchAttributes: [
        { key: REFERENCE_ID, value: known.open },
        { key: PARTNER_ORDER_ID, value: '\u001B[2J' },
        { key: PURCHASE_STATE, value: 'HELD' },
      ],
    });
    const malformed = await env.startRaw('MALFORMED-HOLD', {
      taskQueue: 'nobody',
      memo: { hold: { id: 1, decisions: '\u001B[2J' } },
      typedSearchAttributes: [{ key: PURCHASE_STATE, value: 'HELD' }],
    });
    await env.untilListed(`TaskQueue = 'nobody'`, 2);
    const { purchases } = await env.starter.list({ state: 'HELD' });
    expect(purchases).toHaveLength(4);
    expect(purchases.find(({ referenceId: shown }) => shown === 'MALFORMED-HOLD')).toMatchObject({
      explanation: 'an operator must decide',
      hold: undefined,
    });
    expect(purchases.find(({ workflowId }) => workflowId === purchaseWorkflowId(referenceId))).toMatchObject({
      referenceId: 'purchase-x; rm -rf ~  [2J',
      orderId: undefined,
      explanation: 'an operator must decide',
      hold: undefined,
      commands: [],
    });
    await Promise.all([unserved.terminate(), malformed.terminate()]);
  });

  it('has a documented saved view, which the server accepts like all the others', async () => {
    const page = readFileSync(join(__dirname, '../../../docs/operations.md'), 'utf8');
    const [section = ''] = page.split('\n### Saved views\n')[1]?.split('\n## ') ?? [];
    const views = [...section.matchAll(/^\| [^|]+ \| `([^`]+)` \|$/gm)].map(([, query]) => query!);
    expect(views.length).toBeGreaterThan(10);
    for (const query of views) await env.client.workflow.count(query);
    expect((await env.client.workflow.count(views[0])).count).toBeGreaterThan(1);
  });

  it('does not suggest that a purchase with invalid input has an order', async () => {
    const referenceId = env.reference();
    await env.startRaw(referenceId, { args: [{ referenceId, items: [] }] });
    await env.untilListed("ExecutionStatus = 'Failed'", 1);
    const { purchases } = await env.starter.list();
    const failed = purchases.find((purchase) => purchase.referenceId === referenceId);
    expect(failed?.explanation).toMatch(/^failed: its input was probably invalid, so this execution bought nothing/);
  });
});

describe('list on the command line', () => {
  const env = sharedEnvironment({ ownNamespace: true, worker: false });

  it('reads memos that exceed 4 MiB together, the default limit of a gRPC response', async () => {
    const large = ['LARGE-1', 'LARGE-2', 'LARGE-3'];
    const start = { taskQueue: 'nobody', memo: { note: 'x'.repeat(1_500_000) } };
    const typedSearchAttributes = [{ key: PURCHASE_STATE, value: 'HELD' }];
    await Promise.all(large.map((referenceId) => env.startRaw(referenceId, { ...start, typedSearchAttributes })));
    await env.untilListed("PurchaseState = 'HELD'", large.length);
    const { stdout } = await starterProcess(['list', '--json'], starterEnvOf(env));
    const { purchases } = JSON.parse(stdout) as PurchaseList;
    expect(purchases.map(({ referenceId }) => referenceId).toSorted()).toEqual(large);
  });
});
