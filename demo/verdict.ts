import type { PurchaseResult } from '../src/contracts/purchase';
import type { AuditLine } from './audit';
import { colourOf, type Paint } from './colours';
import { SCENARIOS } from './scenarios';

const HEAD = 'Sale        Outcome              Orders  Keys received (of issued)';

/** The last table of the demo: one line for each reference, at most 79 characters wide unless something is wrong. */
export function ledgerTable(
  lines: readonly AuditLine[],
  results: ReadonlyMap<string, Pick<PurchaseResult, 'outcome'>>,
  paint: Paint,
): string[] {
  const rows = lines.map(({ referenceId, isPurchase, orders, issued, received, mismatch }) => {
    const outcome = isPurchase ? (results.get(referenceId)?.outcome ?? 'no result') : 'no purchase';
    const shows = SCENARIOS.find((scenario) => scenario.referenceId === referenceId)?.shows ?? '';
    const cells = [
      referenceId.padEnd(10),
      paint(outcome.padEnd(19), isPurchase ? colourOf(outcome) : 'grey'),
      String(orders).padStart(6),
      `${received} of ${issued}`,
    ];
    return `${cells.join('  ')}  ${signOf({ isPurchase, mismatch }, paint)} ${mismatch ?? (isPurchase ? shows : BY_HAND)}`;
  });
  return [HEAD, ...rows];
}

const BY_HAND = 'ordered by hand';

function signOf({ isPurchase, mismatch }: Pick<AuditLine, 'isPurchase' | 'mismatch'>, paint: Paint): string {
  if (mismatch !== undefined) return paint('✗', 'red');
  return isPurchase ? paint('✓', 'green') : paint('–', 'grey');
}

/** @param wrong the number of results that were not as expected. */
export function verdict(wrong: number, paint: Paint): string {
  const good = `✓ ${SCENARIOS.length} purchases, 1 killed worker: no key lost, nothing bought or delivered twice`;
  if (wrong === 0) return paint(good, 'green');
  return paint(`✗ ${wrong} ${wrong === 1 ? 'result is' : 'results are'} not as expected`, 'red');
}
