import { RESOLVE_UPDATE } from '../contracts/names';
import type { Decision, PurchaseResult } from '../contracts/purchase';
import type { PurchaseStatus } from '../starter/status';
import { CAST, type Part, type Twist } from './cast';
import type { Row, Screen } from './screen';
import type { Stage } from './stage';

const PEEK_MS = 500;

/** Plays the demo to its end. @returns how each purchase ended, by reference. */
export async function play(stage: Stage, screen: Screen): Promise<Map<string, PurchaseResult>> {
  const rows: Row[] = CAST.map((part) => ({ part, state: '·', note: '' }));
  const curtain = watch(stage, screen, rows);
  try {
    await start(
      stage,
      CAST.filter((part) => !part.twist),
    );
    await until(rows, (row) => !!row.part.twist || !['·', 'PLACING'].includes(row.state));
    await killTheWorker(stage, screen);
    await start(
      stage,
      CAST.filter((part) => part.twist !== undefined && part.twist !== 'kill-worker'),
    );
    await Promise.all([cancelOne(stage, rows), abandonOne(stage, screen, rows)]);
    const results = await Promise.all(CAST.map(({ referenceId }) => stage.starter.result(referenceId)));
    await until(rows, (row) => row.state === row.part.expected, 10_000);
    return new Map(results.map((result) => [result.referenceId, result]));
  } finally {
    curtain.fall();
  }
}

async function start(stage: Stage, parts: readonly Part[]): Promise<void> {
  for (const part of parts) prepare(stage, part);
  await Promise.all(parts.map(({ referenceId, items }) => stage.starter.purchase({ referenceId, items })));
}

/** What goes wrong at the partner for the purchases that show how it is borne. */
function prepare({ sandbox }: Stage, { referenceId, twist }: Part): void {
  const down = { type: 'answer', status: 503 } as const;
  if (twist === 'kill-worker') {
    sandbox.addFault({ operation: 'place', referenceId, when: 'after', action: { type: 'hang' } });
  } else if (twist === 'history-down' || twist === 'cancel') {
    sandbox.addFault({ operation: 'orders', referenceId, times: 'always', action: down });
  } else if (twist === 'no-answer-then-abandon') {
    sandbox.addFault({ operation: 'place', referenceId, when: 'before', action: { type: 'close' } });
  }
}

/** The worst moment: the partner has taken the order and the money, and nobody here knows its id. */
async function killTheWorker(stage: Stage, screen: Screen): Promise<void> {
  const victim = partWith('kill-worker');
  await start(stage, [victim]);
  await eventually(async () => (await stage.sandbox.ordersOf(victim.referenceId)).length > 0);
  const { pid } = stage.worker;
  await stage.worker.kill('SIGKILL');
  screen.say(
    `SIGKILL    worker ${pid} is dead; the partner has just booked ${victim.referenceId} and the answer is lost`,
  );
  await stage.restartWorker();
  screen.say(`worker     process ${stage.worker.pid} takes over; ${victim.referenceId} must not be bought again`);
}

async function cancelOne(stage: Stage, rows: readonly Row[]): Promise<void> {
  const part = partWith('cancel');
  await until(rows, (row) => row.part !== part || row.state !== '·');
  await stage.temporal.client.workflow.getHandle(`purchase-${part.referenceId}`).cancel();
}

async function abandonOne(stage: Stage, screen: Screen, rows: readonly Row[]): Promise<void> {
  const part = partWith('no-answer-then-abandon');
  await until(rows, (row) => row.part !== part || row.state === 'HELD');
  const { hold } = await stage.starter.status(part.referenceId);
  if (!hold) throw new Error(`${part.referenceId} is held without saying so`);
  screen.say(`operator   ${part.referenceId} waits for a decision (${hold.decisions.join(', ')}): abandon`);
  const decision: Decision = { hold: hold.id, decision: 'abandon' };
  const handle = stage.temporal.client.workflow.getHandle(`purchase-${part.referenceId}`);
  await handle.executeUpdate(RESOLVE_UPDATE, { args: [decision] });
}

/** Keeps the rows and the screen up to date until the curtain falls. */
function watch(stage: Stage, screen: Screen, rows: Row[]): { fall(): void } {
  let open = true;
  const loop = async () => {
    while (open) {
      await Promise.all(rows.map((row) => refresh(stage, row)));
      if (open) screen.update(rows);
      await pause(PEEK_MS);
    }
  };
  void loop().catch(() => undefined);
  return {
    fall() {
      open = false;
    },
  };
}

async function refresh(stage: Stage, row: Row): Promise<void> {
  if (row.state === row.part.expected) return;
  try {
    const status = await stage.starter.status(row.part.referenceId);
    row.state = status.state;
    row.note = noteOf(status);
  } catch {
    // Not started yet, or the server is busy: the next peek tells.
  }
}

function noteOf(status: PurchaseStatus): string {
  if (status.result) return status.result.reason ?? '';
  const [work] = status.pending;
  return work ? `${work.activity}, attempt ${work.attempt}` : '';
}

function partWith(twist: Twist): Part {
  const part = CAST.find((candidate) => candidate.twist === twist);
  if (!part) throw new Error(`nobody plays ${twist}`);
  return part;
}

function until(rows: readonly Row[], holds: (row: Row) => boolean, patienceMs = 60_000): Promise<void> {
  return eventually(async () => rows.every(holds), patienceMs);
}

async function eventually(holds: () => Promise<boolean>, patienceMs = 60_000): Promise<void> {
  const giveUp = Date.now() + patienceMs;
  while (!(await holds())) {
    if (Date.now() > giveUp)
      throw new Error(`the demo waited ${patienceMs / 1_000} s for something that did not happen`);
    await pause(50);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
