import { once } from 'node:events';
import type { PurchaseResult } from '../src/contracts/purchase';
import type { ReconciliationResult } from '../src/contracts/reconciliation';
import { exitWith, stopSignal } from '../src/exit';
import { audit } from './audit';
import { type DemoEnvironment, startEnvironment } from './environment';
import { createProgress, type Progress } from './progress';
import { reconcile } from './reconcile';
import { runScenarios } from './run';
import { ORPHAN, SCENARIOS } from './scenarios';

type Log = (line: string) => void;

/**
 * `npm run demo`: real purchases through a real Temporal server, and the partner's ledger beside what the checkout got.
 * Exit code 0 only if every purchase ended as it should and both sides agree.
 */
async function main(): Promise<number> {
  const cli = process.env.TEMPORAL_CLI;
  if (!cli) throw new Error('TEMPORAL_CLI names no Temporal CLI; start the demo with `npm run demo`');
  const progress = createProgress(process.stdout);
  const interrupted = once(stopSignal(), 'abort').then(() => undefined);
  const environment = await startEnvironment(cli, progress.log);
  try {
    const isGood = await Promise.race([run(environment, progress), interrupted]);
    if (isGood === undefined) return 130;
    if (process.stdout.isTTY) {
      progress.log(`\nThe UI stays up: ${environment.temporal.uiUrl} — Ctrl-C ends it.`);
      await interrupted;
    }
    return isGood ? 0 : 1;
  } finally {
    await environment.close();
  }
}

/** @returns whether all went as it should. */
async function run(environment: DemoEnvironment, progress: Progress): Promise<boolean> {
  const { log } = progress;
  log(`watch      ${environment.temporal.uiUrl}/namespaces/default/workflows\n`);
  const results = await runScenarios(environment, progress);
  const { details } = await reconcile(environment, log);
  const wrong = (await reportLedgers(environment, log)) + reportUnexpected(results, details, log);
  const good = 'one killed worker: nothing lost, nothing bought twice, nothing delivered twice.';
  log(wrong === 0 ? `\n✓ ${SCENARIOS.length} purchases, ${good}` : `\n✗ ${wrong} lines do not agree.`);
  return wrong === 0;
}

/** @returns how many references do not agree. */
async function reportLedgers({ sandbox, checkout }: DemoEnvironment, log: Log): Promise<number> {
  const { references } = await sandbox.ledger({ keys: true });
  const orders = references.flatMap((reference) => reference.orders);
  const events = checkout.events().filter(({ type }) => type.startsWith('purchase.'));
  const lines = audit(orders, events, new Set([ORPHAN]));
  log('\nThe partner’s ledger beside what the checkout got:\n');
  log('  reference  orders  keys issued  keys received');
  for (const { referenceId, orders, issued, received, mismatch } of lines) {
    const numbers = `${String(orders).padStart(6)}  ${String(issued).padStart(11)}  ${String(received).padStart(13)}`;
    log(`  ${referenceId.padEnd(9)}  ${numbers}  ${mismatch ? `✗ ${mismatch}` : '✓'}`);
  }
  return lines.filter(({ mismatch }) => mismatch).length;
}

/** @returns how much of what happened was not expected. */
function reportUnexpected(
  results: ReadonlyMap<string, PurchaseResult>,
  findings: ReconciliationResult['details'],
  log: Log,
): number {
  const lines: string[] = [];
  for (const { referenceId, expected } of SCENARIOS) {
    const outcome = results.get(referenceId)?.outcome;
    if (outcome !== expected) lines.push(`  ${referenceId} ended ${outcome}, expected ${expected}`);
  }
  const isLateDelivered = findings.some(({ kind, done }) => kind === 'LATE' && done === 'repaired');
  const isOrphanFound = findings.some(({ kind, referenceId }) => kind === 'ORPHAN' && referenceId === ORPHAN);
  if (!isLateDelivered || !isOrphanFound) lines.push('  the reconciliation did not find what there was to find');
  for (const line of lines) log(line);
  return lines.length;
}

main().then((code) => process.exit(code), exitWith);
