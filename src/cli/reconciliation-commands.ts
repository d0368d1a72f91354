import type { Command } from 'commander';
import { command } from '../contracts/operator-commands';
import { loadLibrary, type StarterContext } from './context';
import { formatScheduleSettings, safeSentence, show, showReconciliation } from './output';
import type { NightlySchedule, ScheduleManager } from '../starter/index';
import { formatInstant } from '../contracts/format-instant';
import { formatHours } from '../domain/text-format';
import { period } from './command-arguments';

/** Adds the reconciliation commands. They need Temporal and a worker, but not the partner's API key. */
export function addReconciliationCommands(program: Command, context: StarterContext): void {
  program
    .command('reconcile')
    .description(
      "compare the partner's orders with the purchases now, repair what can be repaired, and show the findings",
    )
    .option(
      '--lookback <duration>',
      'how far back to look, such as 72h; by default RECONCILE_LOOKBACK',
      period('--lookback'),
    )
    .option('--dry-run', 'report without repairing anything')
    .action((options: { lookback?: number; dryRun?: boolean }) => reconcile(context, options));

  const schedule = program.command('schedule').description('manage the nightly reconciliation');
  const add = (name: string, description: string, work: () => Promise<void>) =>
    void schedule.command(name).description(description).action(work);
  const connect = async () => {
    const taskQueue = context.taskQueue();
    const client = await context.temporal();
    return loadLibrary().createScheduleManager(client, taskQueue);
  };
  const change = (name: string, description: string, work: (manager: ScheduleManager) => Promise<void>, done: string) =>
    add(name, description, async () => {
      await work(await connect());
      show(context.out, { done }, [done]);
    });

  add('create', 'create the schedule, or update it from RECONCILE_CRON, …_TIMEZONE and …_LOOKBACK', async () => {
    // Read first, so that nothing is contacted with a wrong configuration.
    const settings = context.schedule();
    const { created, schedule: made } = await (await connect()).create(settings);
    show(context.out, { created, ...made }, [created ? 'created' : 'updated', ...formatSchedule(made)]);
  });
  add('describe', 'show when the reconciliation runs, and when it last ran', async () => {
    const found = await (await connect()).describe();
    show(context.out, found, formatSchedule(found));
  });
  change('pause', 'stop the nightly runs until you resume them', (manager) => manager.pause(), 'paused');
  change('resume', 'start the nightly runs again', (manager) => manager.resume(), 'resumed');
  const triggered = `triggered. To see the run: ${command('schedule describe')}`;
  change('trigger', 'start a run now, unless a run is active', (manager) => manager.trigger(), triggered);
  change('delete', 'remove the nightly reconciliation', (manager) => manager.delete(), 'deleted');
}

async function reconcile(
  context: StarterContext,
  { lookback: asked, dryRun }: { lookback?: number; dryRun?: boolean },
): Promise<void> {
  const { lookbackMs, timezone } = context.schedule();
  const taskQueue = context.taskQueue();
  const client = await context.temporal();
  const input = { lookbackMs: asked ?? lookbackMs, timeZone: timezone, dryRun };
  const result = await loadLibrary().reconcileNow(client, taskQueue, input, {
    onStart: (runId) =>
      context.out.note(
        `${input.dryRun ? 'dry run, which changes nothing: comparing' : 'reconciling'} the last ` +
          `${formatHours(input.lookbackMs)} (run ${runId}); waiting for a worker to finish it`,
      ),
    onFailure: (message) => context.out.note(`it failed and will be tried again: ${safeSentence(message)}`),
  });
  showReconciliation(context.out, result);
}

function formatSchedule(schedule: NightlySchedule) {
  const { scheduleId, paused, note, next, recent, running, skipped, missed } = schedule;
  return [
    `${scheduleId}: ${formatScheduleSettings(schedule)}${paused ? '  PAUSED' : ''}`,
    note !== undefined && `  note: ${safeSentence(note)}`,
    ...next.map((at) => `  next: ${formatInstant(at)}`),
    ...running.map((workflowId) => `  running: ${workflowId}`),
    ...recent.map(({ at, workflowId }) => `  ran: ${formatInstant(at)}  ${workflowId}`),
    skipped + missed > 0 &&
      `  skipped: ${skipped} because another run was active, ${missed} because the server was down`,
  ];
}
