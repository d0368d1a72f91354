import type { Bought } from '../support/kill';
import type { Audit } from '../../support/audit';
import type { Cell } from './matrix';
import type { Ends } from './decide-holds';

/** One line of the table: what one run came to. */
export interface RunSummary {
  run: string;
  cells: number;
  purchases: number;
  outcomes: Record<string, number>;
  /** How often which decision was taken by a person. */
  decided: Record<string, number>;
  /** References of what must not be. */
  wrong: Omit<Audit, 'unplaced'>;
  /** Cells in which the partner did what can only be reported, and how many orders too many that made. */
  beyond: Record<string, number>;
}

const FAULTS = ['boughtTwice', 'lostPurchases', 'lostKeys', 'keysTwice', 'foreignKeys', 'changedEvents'] as const;

/** Counts a run, with the cells apart in which the partner did what no one can prevent. */
export function summaryOf(run: string, bought: readonly Bought[], ends: Ends, audit: Audit): RunSummary {
  const beyond = new Map(
    bought.flatMap(({ referenceId, crashPoint }) => {
      const why = (crashPoint as Cell).beyond;
      return why === undefined ? [] : [[referenceId, why] as const];
    }),
  );
  const { unplaced: _, ...found } = audit;
  // An order too many has keys too, which nobody is given. Everything else holds for these cells as well.
  const excused = (list: string[]) => list.filter((referenceId) => !beyond.has(referenceId));
  const wrong = { ...found, boughtTwice: excused(found.boughtTwice), lostKeys: excused(found.lostKeys) };
  const reported = found.boughtTwice.flatMap((referenceId) => beyond.get(referenceId) ?? []);
  return {
    run,
    cells: new Set(bought.map(({ crashPoint }) => crashPoint.name)).size,
    purchases: bought.length,
    outcomes: count(ends.outcomes.values()),
    decided: count([...ends.decided.values()].map((decision) => decision.split(',')[0]!)),
    wrong,
    beyond: count(reported),
  };
}

/** What went wrong, in words, with the cells in which it did. */
export function violations(summary: RunSummary, bought: readonly Bought[]): string[] {
  const names = new Map(bought.map(({ referenceId, crashPoint }) => [referenceId, crashPoint.name]));
  return FAULTS.flatMap((fault) =>
    summary.wrong[fault].map((referenceId) => `${fault}: ${referenceId} (${names.get(referenceId) ?? 'an event'})`),
  );
}

/** What people decided, with the cells in which they had to. */
export function decisions(ends: Ends, bought: readonly Bought[]): string[] {
  return bought.flatMap(({ referenceId, crashPoint }) => {
    const decision = ends.decided.get(referenceId);
    return decision === undefined ? [] : [`  ${crashPoint.name}: ${decision}`];
  });
}

/** The table at the end. */
export function tableOf(summaries: readonly RunSummary[]): string {
  const heads = ['run', 'cells', 'purchases', 'bought twice', 'lost', 'keys lost', 'keys twice', 'keys not issued'];
  const body = summaries.map(({ run, cells, purchases, wrong }) => [
    ...[run, cells, purchases, wrong.boughtTwice.length, wrong.lostPurchases.length, wrong.lostKeys.length],
    ...[wrong.keysTwice.length + wrong.changedEvents.length, wrong.foreignKeys.length],
  ]);
  const total = heads.slice(1).map((_, at) => body.reduce((sum, line) => sum + Number(line[at + 1]), 0));
  const lines = [heads, ...body, ['all', ...total]].map((line) => line.map(String));
  const widths = heads.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  const table = lines.map((line) =>
    line.map((text, at) => (at === 0 ? text.padEnd(widths[at]!) : text.padStart(widths[at]!))).join('  '),
  );
  return [...table, '', ...summaries.map(outcomesLine)].join('\n');
}

function outcomesLine({ run, outcomes, decided, beyond }: RunSummary): string {
  const counts = Object.entries(outcomes).map(([outcome, number]) => `${number} ${outcome}`);
  const reported = Object.entries(beyond).map(
    ([why, number]) => `${number} bought twice because ${why}, and reported by the reconciliation`,
  );
  const people = Object.entries(decided).map(([decision, number]) => `${number} decided by a person: ${decision}`);
  return [`${run}: ${counts.join(', ')}`, ...people, ...reported].join('; ');
}

function count(words: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
