import type { WorkflowHandle } from '@temporalio/client';
import type { BrakeState } from '../../../src/contracts/brake';
import {
  BRAKE_WORKFLOW,
  brakeWorkflowId,
  KEEP_WATCHING_SIGNAL,
  ORDER_CHANGED_SIGNAL,
  purchaseWorkflowId,
  REPORT_PLACEMENTS_SIGNAL,
  RESOLVE_UPDATE,
  RESUME_PLACING_SIGNAL,
  STATUS_QUERY,
  watchWorkflowId,
} from '../../../src/contracts/names';
import { expectDeliveredOnce, rejectionOf } from '../../support/checks';
import { sharedEnvironment } from '../../support/test-environment';
import { UNDECODABLE_VALUES } from '../../support/undecodable';
import { waitUntil } from '../../support/wait-until';
import { changeOrder, untilWatched } from '../../support/watched';

describe('a workflow that somebody sends what can not be decoded goes on, and no task of it is tried for ever', () => {
  const env = sharedEnvironment({ settings: { watch: 'history', pollIntervalMs: 200 } });

  const signal = async (handle: WorkflowHandle, ...names: string[]) => {
    for (const name of names) for (const value of UNDECODABLE_VALUES) await handle.signal(name, value);
  };
  const expectWhole = async (handle: WorkflowHandle) => {
    const isIdle = async () => !(await handle.describe()).raw.pendingWorkflowTask;
    await waitUntil(`${handle.workflowId} has done its task`, isIdle, { withinMs: 15_000 });
    const { events = [] } = await handle.fetchHistory();
    expect(events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
  };

  it('a purchase that waits, and its watcher', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    await untilWatched(env, [referenceId]);
    const purchase = env.client.workflow.getHandle(purchaseWorkflowId(referenceId));
    const watcher = env.client.workflow.getHandle(watchWorkflowId(env.taskQueue));
    await signal(purchase, ORDER_CHANGED_SIGNAL, RESUME_PLACING_SIGNAL);
    await signal(watcher, KEEP_WATCHING_SIGNAL);

    await expectWhole(purchase);
    await expectWhole(watcher);
    expect(await purchase.query(STATUS_QUERY, UNDECODABLE_VALUES[0])).toMatchObject({ state: 'PENDING' });
    const refused = await rejectionOf(purchase.executeUpdate(RESOLVE_UPDATE, { args: [UNDECODABLE_VALUES[0]] }));
    expect(refused).toMatchObject({ name: 'WorkflowUpdateFailedError' });
    await changeOrder(env, referenceId, { status: 'COMPLETED' });
    expect(await env.starter.result(referenceId)).toMatchObject({ outcome: 'DELIVERED' });
    await expectDeliveredOnce(env, referenceId, 1);
  });

  it('the brake, also where it was started with such a thing', async () => {
    const state: BrakeState = { row: [BAD], closures: 0, failures: 0, tried: [], notices: [] };
    const workflowId = brakeWorkflowId(env.taskQueue);
    const start = (input: unknown) =>
      env.client.workflow.start(BRAKE_WORKFLOW, {
        workflowId,
        taskQueue: env.taskQueue,
        args: [input],
        // A task that fails for ever ends here.
        workflowExecutionTimeout: 20_000,
      });
    await (await start(UNDECODABLE_VALUES[0])).result();

    const brake = await start(state);
    await signal(brake, REPORT_PLACEMENTS_SIGNAL);
    await expectWhole(brake);
    await brake.signal(REPORT_PLACEMENTS_SIGNAL, [{ ...BAD, sign: 'GOOD' }]);
    await brake.result();
  });
});

const BAD = { referenceId: 'R-1', sign: 'UNKNOWN' } as const;
