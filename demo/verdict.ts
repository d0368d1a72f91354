import type { PurchaseResult } from '../src/contracts/purchase';
import type { AuditLine } from './audit';
import { colourOf, type Paint } from './colours';
import { SCENARIOS } from './scenarios';

const HEAD = 'Sale        Outcome              Orders  Keys received of issued';

/** The last table of the demo: one line for each reference, at most 79 characters wide unless something is wrong. */
export function ledgerTable(
  lines: readonly AuditLine[],
  results: ReadonlyMap<string, Pick<PurchaseResult, 'outcome'>>,
  paint: Paint,
): string[] {
  const rows = lines.map(({ referenceId, isOurs, orders, issued, received, mismatch }) => {
    const outcome = isOurs ? (results.get(referenceId)?.outcome ?? 'no result') : 'not ours';
    const shows = SCENARIOS.find((scenario) => scenario.referenceId === referenceId)?.shows ?? '';
    const cells = [
      referenceId.padEnd(10),
      paint(outcome.padEnd(19), isOurs ? colourOf(outcome) : 'grey'),
      String(orders).padStart(6),
      `${received} of ${issued}`,
    ];
    return `${cells.join('  ')}  ${signOf({ isOurs, mismatch }, paint)} ${mismatch ?? (isOurs ? shows : NOT_OURS)}`;
  });
  return [HEAD, ...rows];
}

const NOT_OURS = 'ordered by hand, not by us';

function signOf({ isOurs, mismatch }: Pick<AuditLine, 'isOurs' | 'mismatch'>, paint: Paint): string {
  if (mismatch !== undefined) return paint('✗', 'red');
  return isOurs ? paint('✓', 'green') : paint('–', 'grey');
}

/** @param wrong how many things were not as they should be. */
export function verdict(wrong: number, paint: Paint): string {
  const good = `✓ ${SCENARIOS.length} purchases, 1 killed worker: no key lost, nothing bought or delivered twice`;
  if (wrong === 0) return paint(good, 'green');
  return paint(`✗ ${wrong} ${wrong === 1 ? 'thing is' : 'things are'} not as expected`, 'red');
}
