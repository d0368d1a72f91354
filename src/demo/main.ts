import type { PurchaseResult } from '../contracts/purchase';
import type { ReportedFinding } from '../contracts/reconciliation';
import { audit, type AuditLine, type BookedOrder } from './books';
import { CAST } from './cast';
import { play } from './play';
import { ORPHAN, reconcileInTheMorning } from './reconcile';
import { createScreen, type Screen } from './screen';
import { buildStage, type Stage } from './stage';

interface Played {
  results: Map<string, PurchaseResult>;
  findings: readonly ReportedFinding[];
}

/**
 * `npm run demo`: real purchases through a real Temporal server, and the partner's books beside what the checkout got.
 * Exit code 0 only if every purchase ended as it should and the books agree.
 */
async function main(): Promise<number> {
  const cli = process.env.TEMPORAL_CLI;
  if (!cli) throw new Error('TEMPORAL_CLI names no Temporal CLI; start the demo with `npm run demo`');
  const screen = createScreen(process.stdout);
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const stage = await buildStage(cli, screen.say);
  try {
    screen.say(`watch      ${stage.temporal.uiUrl}/namespaces/default/workflows\n`);
    const played = await Promise.race([playAll(stage, screen), interrupted]);
    if (!played) return 130;
    const good = report(screen, await compare(stage), played);
    if (process.stdout.isTTY) {
      screen.say(`\nThe UI stays up: ${stage.temporal.uiUrl} — Ctrl-C ends it.`);
      await interrupted;
    }
    return good ? 0 : 1;
  } finally {
    await stage.close();
  }
}

/** The purchases, then the reconciliation that finds what they left. */
async function playAll(stage: Stage, screen: Screen): Promise<Played> {
  const results = await play(stage, screen);
  const { details } = await reconcileInTheMorning(stage, screen);
  return { results, findings: details };
}

async function compare(stage: Stage): Promise<AuditLine[]> {
  const { references } = await stage.sandbox.ledger({ keys: true });
  const booked: BookedOrder[] = references
    .flatMap(({ orders }) => orders)
    .map((order) => ({
      id: order.id,
      referenceId: order.referenceId,
      status: order.status,
      keys: order.items.flatMap((item) => item.keys ?? []).map((key) => key.value),
    }));
  return audit(booked, stage.checkout.events().filter(isOfPurchase), new Set([ORPHAN]));
}

function isOfPurchase({ type }: { type: string }): boolean {
  return type.startsWith('purchase.');
}

/** Prints the comparison. @returns whether all went as it should. */
function report(screen: Screen, lines: AuditLine[], { results, findings }: Played): boolean {
  screen.say('\nThe partner’s books beside what the checkout got:\n');
  screen.say('  reference  orders  keys issued  keys received');
  for (const line of lines) {
    const numbers = `${String(line.orders).padStart(6)}  ${String(line.issued).padStart(11)}  ${String(line.received).padStart(13)}`;
    screen.say(`  ${line.referenceId.padEnd(9)}  ${numbers}  ${line.fault ? `✗ ${line.fault}` : '✓'}`);
  }
  const wrong = CAST.filter((part) => results.get(part.referenceId)?.outcome !== part.expected);
  for (const part of wrong) {
    screen.say(`  ${part.referenceId} ended ${results.get(part.referenceId)?.outcome}, expected ${part.expected}`);
  }
  const mended = findings.some((finding) => finding.kind === 'LATE' && finding.done === 'mended');
  const orphan = findings.some((finding) => finding.kind === 'ORPHAN' && finding.referenceId === ORPHAN);
  if (!mended || !orphan) screen.say('  the reconciliation did not find what there was to find');
  const faults = lines.filter((line) => line.fault).length + wrong.length + (mended && orphan ? 0 : 1);
  const summary = `${CAST.length} purchases, one killed worker: nothing lost, nothing bought twice, nothing delivered twice.`;
  screen.say(faults === 0 ? `\n✓ ${summary}` : `\n✗ ${faults} lines do not agree.`);
  return faults === 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
