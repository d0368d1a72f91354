import { once } from 'node:events';
import type { PurchaseResult } from '../src/contracts/purchase';
import type { ReconciliationResult } from '../src/contracts/reconciliation';
import { exitWith, stopSignal } from '../src/exit';
import { audit, type AuditLine } from './audit';
import { type DemoEnvironment, startEnvironment } from './environment';
import { createProgress, type Progress } from './progress';
import { reconcile } from './reconcile';
import { runScenarios } from './run-scenarios';
import { ORPHAN, SCENARIOS } from './scenarios';
import { ledgerTable, verdict } from './verdict';

/**
 * `npm run demo`: real purchases through a real Temporal server, then the partner's ledger next to what the checkout
 * received. The exit code is 0 only if every purchase ended as expected and both sides agree.
 */
async function main(): Promise<number> {
  const cli = process.env.TEMPORAL_CLI;
  if (!cli) throw new Error('TEMPORAL_CLI is not set. Start the demo with `npm run demo`.');
  const progress = createProgress(process.stdout);
  // Closing the terminal must also stop the servers. It ends stdout, which must not end this process first.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const interrupted = once(stopSignal(['SIGTERM', 'SIGINT', 'SIGHUP']), 'abort').then(() => undefined);
  const environment = await startEnvironment(cli, progress.log);
  try {
    const isGood = await Promise.race([run(environment, progress), interrupted]);
    if (isGood === undefined) return 130;
    if (process.stdout.isTTY) progress.log(`The Temporal UI stays up until Ctrl-C: ${environment.temporal.uiUrl}`);
    progress.log(NEXT);
    if (process.stdout.isTTY) await interrupted;
    return isGood ? 0 : 1;
  } finally {
    await environment.close();
  }
}

const NEXT = 'Next: run your own worker (docs/getting-started.md),\n      or write a checkout (docs/checkout.md).';

/** @returns whether everything went as expected. */
async function run(environment: DemoEnvironment, progress: Progress): Promise<boolean> {
  const { log, paint } = progress;
  const results = await runScenarios(environment, progress);
  progress.clear();
  const { details } = await reconcile(environment, log);
  const ledger = await auditLedger(environment);
  for (const line of ledgerTable(ledger, results, paint)) log(line);
  const unexpected = unexpectedIn(results, details);
  for (const line of unexpected) log(paint(line, 'red'));
  const wrong = ledger.filter(({ mismatch }) => mismatch).length + unexpected.length;
  log(`\n${verdict(wrong, paint)}`);
  return wrong === 0;
}

async function auditLedger({ sandbox, checkout }: DemoEnvironment): Promise<AuditLine[]> {
  const { references } = await sandbox.ledger({ keys: true });
  const orders = references.flatMap((reference) => reference.orders);
  const events = checkout.events().filter(({ type }) => type.startsWith('purchase.'));
  return audit(orders, events, new Set([ORPHAN]));
}

/** @returns one line for each thing that was not expected. */
function unexpectedIn(
  results: ReadonlyMap<string, PurchaseResult>,
  findings: ReconciliationResult['details'],
): string[] {
  const lines = SCENARIOS.flatMap(({ referenceId, expected }) => {
    const outcome = results.get(referenceId)?.outcome;
    return outcome === expected ? [] : [`${referenceId} ended as ${outcome}, expected ${expected}`];
  });
  const isLateDelivered = findings.some(({ kind, done }) => kind === 'LATE' && done === 'repaired');
  const isOrphanFound = findings.some(({ kind, referenceId }) => kind === 'ORPHAN' && referenceId === ORPHAN);
  if (!isLateDelivered) lines.push('the reconciliation did not deliver the late order');
  if (!isOrphanFound) lines.push('the reconciliation did not find the order that was placed by hand');
  return lines;
}

main().then((code) => process.exit(code), exitWith);
