import { RECONCILE_SCHEDULE } from '../../../src/contracts/names';
import { runStarter } from '../../../src/cli/command-line';
import { createScheduleManager, type NightlySchedule, type ScheduleManager } from '../../../src/starter/schedule';
import { until } from '../placement/play';
import { HOUR, type Stage, startStage } from './stage';

const NIGHTLY = { cron: '0 3 * * *', timezone: 'Europe/Warsaw', lookbackMs: 72 * HOUR };

describe('the nightly schedule', () => {
  let stage: Stage;
  let keeper: ScheduleManager;
  beforeEach(async () => {
    // No worker: what the schedule starts stays running.
    stage = await startStage({ worker: false });
    keeper = createScheduleManager(stage.client, stage.taskQueue);
  });
  afterEach(() => stage.close());

  it('is made as it is asked for: it leaves out what overlaps, catches up half a day, and ends before the next night', async () => {
    const { created, schedule } = await keeper.create(NIGHTLY);

    expect(created).toBe(true);
    expect(schedule).toMatchObject({ ...NIGHTLY, scheduleId: RECONCILE_SCHEDULE, paused: false, recent: [] });
    const { policies, spec, action } = await stage.client.schedule.getHandle(RECONCILE_SCHEDULE).describe();
    expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 12 * HOUR, pauseOnFailure: false });
    expect(spec.jitter).toBeGreaterThan(0);
    expect(action).toMatchObject({ workflowType: 'reconcileWorkflow', taskQueue: stage.taskQueue });
    expect(Number(action.workflowExecutionTimeout)).toBeLessThan(24 * HOUR);
  });

  it('is changed by another create, and one that was paused does not go on by that', async () => {
    await keeper.create(NIGHTLY);
    await keeper.pause();

    const { created, schedule } = await keeper.create({ cron: '30 4 * * *', timezone: 'UTC', lookbackMs: 24 * HOUR });

    expect(created).toBe(false);
    expect(schedule).toMatchObject({ cron: '30 4 * * *', timezone: 'UTC', lookbackMs: 24 * HOUR, paused: true });
    await keeper.resume();
    const resumed = await keeper.describe();
    expect(resumed.paused).toBe(false);
    expect(resumed.next[0]).toMatch(/T04:3\d:/);
  });

  it('is triggered at once, but never beside a run that is under way', async () => {
    await keeper.create(NIGHTLY);

    await keeper.trigger();
    await until(async () => (await keeper.describe()).running.length === 1);
    await keeper.trigger();
    await until(async () => (await keeper.describe()).skipped === 1);

    const { running, recent } = await keeper.describe();
    expect(running).toHaveLength(1);
    expect(recent).toHaveLength(1);
    expect(running[0]).toMatch(/^nightly-reconciliation-/);
  });

  it.each([
    ['a time zone that does not exist', { ...NIGHTLY, timezone: 'Europe/Atlantis' }, 'Europe/Atlantis'],
    ['a minute that does not exist', { ...NIGHTLY, cron: '99 3 * * *' }, '99 3'],
    ['a look-back beyond the retention less a day', { ...NIGHTLY, lookbackMs: 217 * HOUR }, 'retention of 241h'],
  ])('is refused with %s, and nothing is made', async (_, settings, words) => {
    await expect(keeper.create(settings)).rejects.toThrow(words);
    await expect(keeper.describe()).rejects.toThrow('There is no schedule nightly-reconciliation');
  });

  it('is described, paused, resumed, triggered and deleted only where there is one', async () => {
    for (const work of [keeper.describe, keeper.pause, keeper.resume, keeper.trigger, keeper.delete]) {
      await expect(work()).rejects.toThrow('node dist/starter.js schedule create');
    }
    await keeper.create(NIGHTLY);
    await keeper.delete();
    await until(() =>
      keeper.describe().then(
        () => false,
        () => true,
      ),
    );
  });

  describe('on the nights in which Warsaw changes its clocks', () => {
    async function runsOf(cron: string, from: string, to: string): Promise<string[]> {
      await keeper.create({ ...NIGHTLY, cron });
      const { startTime } = await stage.client.workflowService.listScheduleMatchingTimes({
        namespace: stage.namespace,
        scheduleId: RECONCILE_SCHEDULE,
        startTime: { seconds: (Date.parse(from) / 1_000) as never },
        endTime: { seconds: (Date.parse(to) / 1_000) as never },
      });
      // The jitter moves each by less than five minutes.
      return (startTime ?? []).map(({ seconds }) => {
        const minutes = Math.floor(Number(seconds) / 300) * 300;
        return new Date(minutes * 1_000).toISOString().slice(0, 16);
      });
    }

    it('runs at three once a night', async () => {
      expect(await runsOf('0 3 * * *', '2027-03-27T00:00:00Z', '2027-03-29T12:00:00Z')).toEqual([
        '2027-03-27T02:00',
        '2027-03-28T01:00',
        '2027-03-29T01:00',
      ]);
      expect(await runsOf('0 3 * * *', '2027-10-30T00:00:00Z', '2027-11-01T12:00:00Z')).toEqual([
        '2027-10-30T01:00',
        '2027-10-31T02:00',
        '2027-11-01T02:00',
      ]);
    });

    it('leaves out the half past two that the spring night does not have, and runs once in the autumn, which has it twice: the look-back spans more than a night', async () => {
      expect(await runsOf('30 2 * * *', '2027-03-27T00:00:00Z', '2027-03-29T12:00:00Z')).toEqual([
        '2027-03-27T01:30',
        '2027-03-29T00:30',
      ]);
      expect(await runsOf('30 2 * * *', '2027-10-30T12:00:00Z', '2027-10-31T12:00:00Z')).toEqual(['2027-10-31T01:30']);
    });
  });

  describe('on the command line', () => {
    async function type(...args: string[]): Promise<{ code: number; printed: string; said: string }> {
      let printed = '';
      let said = '';
      const code = await runStarter(['node', 'starter', ...args], {
        exitCode: 0,
        out: { json: false, write: (text) => void (printed += text), note: (text) => void (said += text) },
        partner: () => {
          throw new Error('the reconciliation needs no key of the partner here');
        },
        schedule: () => NIGHTLY,
        temporal: async () => ({ client: stage.client, taskQueue: stage.taskQueue }),
      });
      return { code, printed, said };
    }

    it('says what it did, in words and as JSON', async () => {
      expect(await type('schedule', 'create')).toMatchObject({
        code: 0,
        printed: expect.stringContaining(
          'created\nnightly-reconciliation: "0 3 * * *" in Europe/Warsaw, looks back 72h',
        ),
      });
      const { printed } = await type('schedule', 'describe', '--json');
      expect(JSON.parse(printed) as NightlySchedule).toMatchObject(NIGHTLY);
      expect(await type('schedule', 'pause')).toMatchObject({ code: 0 });
      expect((await type('schedule', 'describe')).printed).toContain('PAUSED');
      expect(await type('schedule', 'delete')).toMatchObject({ code: 0, printed: 'deleted\n' });
      expect(await type('schedule', 'resume')).toMatchObject({
        code: 1,
        said: expect.stringContaining('schedule create'),
      });
    });

    it('refuses a second reconciliation by hand while one is running, and a look-back that is none', async () => {
      const running = type('reconcile', '--dry-run');
      await until(async () => (await stage.client.workflow.count("WorkflowType = 'reconcileWorkflow'")).count === 1);
      expect(await type('reconcile')).toMatchObject({ code: 1, said: expect.stringContaining('still running') });
      expect(await type('reconcile', '--lookback', '3d')).toMatchObject({ code: 2 });
      expect(await type('reconcile', '--lookback', '400h')).toMatchObject({
        code: 1,
        said: expect.stringContaining('424h'),
      });
      await stage.client.workflow.getHandle('reconciliation-by-hand').terminate();
      expect(await running).toMatchObject({ code: 1, said: expect.stringContaining('without a result') });
    });
  });
});
