import { type Command, InvalidArgumentError } from 'commander';
import type { ReconciliationResult } from '../contracts/reconciliation';
import type { StarterContext } from './context';
import { show } from './output';
import { inHours, reconcileNow } from './reconciliation';
import { createScheduleKeeper, type NightlySchedule, type ScheduleKeeper } from './schedule';

/** The commands of the reconciliation. They need Temporal and a worker, and no key of the partner. */
export function addReconciliationCommands(program: Command, context: StarterContext): void {
  program
    .command('reconcile')
    .description("compare the partner's books with ours now, mend what can be mended, and show the findings")
    .option('--lookback <duration>', 'how far back, such as 72h; RECONCILE_LOOKBACK if not given', lookback)
    .option('--dry-run', 'only report')
    .action((options: { lookback?: number; dryRun?: boolean }) => reconcile(context, options));

  const schedule = program.command('schedule').description('the nightly reconciliation');
  const add = (name: string, description: string, work: (keeper: ScheduleKeeper) => Promise<void>) =>
    void schedule
      .command(name)
      .description(description)
      .option('--json', 'print one JSON document on stdout and nothing else')
      .action(async () => {
        const { client, taskQueue } = await context.temporal();
        await work(createScheduleKeeper(client, taskQueue));
      });
  const done = (words: string) => show(context.out, { done: words }, words);

  add('create', 'make it, or change it to what RECONCILE_CRON, …_TIMEZONE and …_LOOKBACK say', async (keeper) => {
    const { created, schedule: made } = await keeper.create(context.schedule());
    show(context.out, { created, ...made }, [created ? 'created' : 'updated', ...inWords(made)].join('\n'));
  });
  add('describe', 'when it runs, and how it went', async (keeper) => {
    const found = await keeper.describe();
    show(context.out, found, inWords(found).join('\n'));
  });
  add('pause', 'no run until it is resumed', async (keeper) => {
    await keeper.pause();
    done('paused');
  });
  add('resume', 'go on', async (keeper) => {
    await keeper.resume();
    done('resumed');
  });
  add('trigger', 'a run now, unless one is running', async (keeper) => {
    await keeper.trigger();
    done('triggered; what came of it: node dist/starter.js schedule describe');
  });
  add('delete', 'no nightly reconciliation any more', async (keeper) => {
    await keeper.delete();
    done('deleted');
  });
}

async function reconcile(
  context: StarterContext,
  { lookback: asked, dryRun }: { lookback?: number; dryRun?: boolean },
): Promise<void> {
  const { lookbackMs, timezone } = context.schedule();
  const { client, taskQueue } = await context.temporal();
  const input = { lookbackMs: asked ?? lookbackMs, timeZone: timezone, ...(dryRun && { dryRun }) };
  const result = await reconcileNow(client, taskQueue, input, (runId) =>
    context.out.note(`reconciling the last ${inHours(input.lookbackMs)} (run ${runId}); waiting for its end`),
  );
  show(context.out, result, resultInWords(result).join('\n'));
}

function resultInWords(result: ReconciliationResult): string[] {
  const { from, to, orders, findings, details, mended, report } = result;
  const count = Object.values(findings).reduce((total, one) => total + one, 0);
  const more = count > details.length ? [`  … and ${count - details.length} more, see the report`] : [];
  return [
    `${orders} orders from ${from} to ${to}`,
    ...details.flatMap((finding) => [
      `${finding.kind}  ${finding.referenceId ?? ''}  ${finding.orderIds.join(' ')}  ${finding.done}`.trimEnd(),
      `    ${finding.explanation}${finding.note === undefined ? '' : ` (${finding.note})`}`,
      ...(finding.done === 'mended' ? [] : [`    ${finding.advice}`]),
    ]),
    ...more,
    `${count === 0 ? 'no findings' : `${count} findings, ${mended} mended`}; the report lies with the worker: ${report}`,
  ];
}

function inWords(schedule: NightlySchedule): string[] {
  const { scheduleId, cron, timezone, lookbackMs, paused, note, next, recent, running, skipped, missed } = schedule;
  return [
    `${scheduleId}: "${cron}" in ${timezone}, looks back ${inHours(lookbackMs)}${paused ? '  PAUSED' : ''}`,
    ...(note === undefined ? [] : [`  note: ${note}`]),
    ...next.map((time) => `  next: ${time}`),
    ...running.map((workflowId) => `  running: ${workflowId}`),
    ...recent.map(({ at, workflowId }) => `  ran: ${at}  ${workflowId}`),
    `  left out: ${skipped} while another was running, ${missed} while the server was away`,
  ];
}

const UNIT_MS = { m: 60_000, h: 3_600_000 } as const;

function lookback(value: string): number {
  const [, count, unit] = /^(\d{1,6})(m|h)$/.exec(value) ?? [];
  const ms = Number(count) * (UNIT_MS[unit as keyof typeof UNIT_MS] ?? 0);
  if (unit === undefined || ms < 1) throw new InvalidArgumentError(`expected a duration such as 72h, got ${value}`);
  return ms;
}
