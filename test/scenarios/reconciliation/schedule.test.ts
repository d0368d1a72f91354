import { RECONCILE_SCHEDULE } from '../../../src/contracts/names';
import { createScheduleManager, type NightlySchedule, type ScheduleManager } from '../../../src/starter/reconciliation';
import { runCommand } from '../../support/command';
import { HOUR } from '../../support/settings';
import { startReconciliationEnvironment, type TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

const NIGHTLY = { cron: '0 3 * * *', timezone: 'Europe/Warsaw', lookbackMs: 72 * HOUR };

describe('the nightly schedule', () => {
  let env: TestEnvironment;
  let manager: ScheduleManager;
  beforeEach(async () => {
    // Without a worker, the runs that the schedule starts keep running.
    env = await startReconciliationEnvironment({ worker: false });
    manager = createScheduleManager(env.client, env.taskQueue);
  });
  afterEach(() => env.close());

  it('is created as configured: it never overlaps itself, catches up half a day, and ends before the next night', async () => {
    const { created, schedule } = await manager.create(NIGHTLY);

    expect(created).toBe(true);
    expect(schedule).toMatchObject({ ...NIGHTLY, scheduleId: RECONCILE_SCHEDULE, paused: false, recent: [] });
    const { policies, spec, action } = await env.client.schedule.getHandle(RECONCILE_SCHEDULE).describe();
    expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 12 * HOUR, pauseOnFailure: false });
    expect(spec.jitter).toBeGreaterThan(0);
    expect(action).toMatchObject({ workflowType: 'reconcileWorkflow', taskQueue: env.taskQueue });
    expect(Number(action.workflowExecutionTimeout)).toBeLessThan(24 * HOUR);
  });

  it('is updated by a second create, which does not resume a paused schedule', async () => {
    await manager.create(NIGHTLY);
    await manager.pause();

    const { created, schedule } = await manager.create({ cron: '30 4 * * *', timezone: 'UTC', lookbackMs: 24 * HOUR });

    expect(created).toBe(false);
    expect(schedule).toMatchObject({ cron: '30 4 * * *', timezone: 'UTC', lookbackMs: 24 * HOUR, paused: true });
    await manager.resume();
    const resumed = await manager.describe();
    expect(resumed.paused).toBe(false);
    expect(resumed.next[0]).toMatch(/T04:3\d:/);
  });

  it('can be triggered at once, but not while a run is in progress', async () => {
    await manager.create(NIGHTLY);

    await manager.trigger();
    await waitUntil('it runs', async () => (await manager.describe()).running.length === 1);
    await manager.trigger();
    await waitUntil('one is skipped', async () => (await manager.describe()).skipped === 1);

    const { running, recent } = await manager.describe();
    expect(running).toHaveLength(1);
    expect(recent).toHaveLength(1);
    expect(running[0]).toMatch(/^nightly-reconciliation-/);
  });

  it.each([
    ['a time zone that does not exist', { ...NIGHTLY, timezone: 'Europe/Atlantis' }, 'Europe/Atlantis'],
    ['a minute that does not exist', { ...NIGHTLY, cron: '99 3 * * *' }, '99 3'],
    ['a lookback beyond the retention less a day', { ...NIGHTLY, lookbackMs: 217 * HOUR }, 'retention of 241h'],
  ])('is refused with %s, and nothing is created', async (_, settings, words) => {
    const refused = manager.create(settings);
    await expect(refused).rejects.toThrow(words);
    await expect(refused).rejects.toMatchObject({ exitCode: 78 });
    await expect(manager.describe()).rejects.toThrow('There is no schedule nightly-reconciliation');
  });

  it.each([
    ['2027-03-27T00:00:00Z', '2027-03-29T12:00:00Z', ['2027-03-27T02', '2027-03-28T01', '2027-03-29T01']],
    ['2027-10-30T00:00:00Z', '2027-11-01T12:00:00Z', ['2027-10-30T01', '2027-10-31T02', '2027-11-01T02']],
  ])('runs once a night, even when Warsaw changes its clocks after %s', async (from, to, nights) => {
    await manager.create(NIGHTLY);
    const { startTime } = await env.client.workflowService.listScheduleMatchingTimes({
      namespace: env.namespace,
      scheduleId: RECONCILE_SCHEDULE,
      startTime: { seconds: (Date.parse(from) / 1_000) as never },
      endTime: { seconds: (Date.parse(to) / 1_000) as never },
    });
    const hours = (startTime ?? []).map(({ seconds }) => new Date(Number(seconds) * 1_000).toISOString().slice(0, 13));
    expect(hours).toEqual(nights);
  });

  describe('on the command line', () => {
    const run = (...args: string[]) =>
      runCommand(args, { schedule: () => NIGHTLY, taskQueue: () => env.taskQueue, temporal: async () => env.client });

    it('prints what it did, as text and as JSON', async () => {
      const { printed: created } = await run('schedule', 'create');
      const settings = `"0 3 * * *" in Europe/Warsaw, looks back 72h, on ${env.taskQueue}`;
      expect(created).toContain(`created\nnightly-reconciliation: ${settings}`);
      const { printed } = await run('schedule', 'describe', '--json');
      expect(JSON.parse(printed) as NightlySchedule).toMatchObject(NIGHTLY);
      expect(await run('schedule', 'pause')).toMatchObject({ code: 0 });
      expect((await run('schedule', 'describe')).printed).toContain('PAUSED');
      expect(await run('schedule', 'delete')).toMatchObject({ code: 0, printed: 'deleted\n' });
      const resumed = await run('schedule', 'resume');
      expect(resumed).toMatchObject({ code: 1, said: expect.stringContaining('schedule create') });
    });

    it('refuses a second manual reconciliation while one is running, and an invalid lookback', async () => {
      const running = run('reconcile', '--dry-run');
      await env.untilListed("WorkflowType = 'reconcileWorkflow'", 1);
      expect(await run('reconcile')).toMatchObject({ code: 1, said: expect.stringContaining('still running') });
      expect(await run('reconcile', '--lookback', '3d')).toMatchObject({ code: 2 });
      const tooLong = await run('reconcile', '--lookback', '400h');
      expect(tooLong).toMatchObject({ code: 78, said: expect.stringContaining('424h') });
      await env.client.workflow.getHandle('manual-reconciliation').terminate();
      expect(await running).toMatchObject({ code: 1, said: expect.stringContaining('without a result') });
    });
  });
});
