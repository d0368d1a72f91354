import { setImmediate as nextTurn } from 'node:timers/promises';
import { keysOf } from '../../support/audit';
import { TEST_FINGERPRINT_SECRET, TEST_SIGNING_SECRET } from '../../support/settings';
import { type Evidence, findLeaks, inWords } from '../../security/support/leak-search';
import { textOf } from '../../security/support/temporal-evidence';
import type { PurchaseEvidence } from './audit-day';
import type { DayParts } from './happenings';

/** So many keys stand for all of them: the search takes time in proportion to their number. */
const MOST_KEYS = 25;

/** Neither Temporal nor what the workers wrote holds a key or a secret. test/security looks for more, and in more places. */
export async function auditLeaks(parts: DayParts, evidence: readonly PurchaseEvidence[]): Promise<string[]> {
  const { environment, workers, chronicle } = parts;
  const keys = [...new Set([...evidence.flatMap(({ orders }) => keysOf(...orders)), ...chronicle.issued])];
  const canaries = [
    { name: 'the fingerprint secret', value: TEST_FINGERPRINT_SECRET },
    { name: 'the signing secret', value: TEST_SIGNING_SECRET },
    ...keys.slice(0, MOST_KEYS).map((value, at) => ({ name: `key ${at}`, value })),
  ];
  const texts: Evidence[] = [
    ...evidence.map(({ referenceId, history }) => ({ place: `history of ${referenceId}`, text: textOf(history) })),
    ...workers.output().map((text, at) => ({ place: `log ${at}`, text })),
  ];
  for await (const { raw, workflowId } of environment.client.workflow.list()) {
    texts.push({ place: `list: ${workflowId}`, text: textOf(raw) });
  }
  const leaks: string[] = [];
  // Others share this process, and their partners' answers must not be late on our account.
  for (const some of inPieces(texts)) {
    leaks.push(...inWords(findLeaks(canaries, some)));
    await nextTurn();
  }
  return leaks.map((leak) => `a leak: ${leak}`);
}

/** The same texts, a few at a time. */
function inPieces(texts: readonly Evidence[]): Evidence[][] {
  return Array.from({ length: Math.ceil(texts.length / 4) }, (_, at) => texts.slice(4 * at, 4 * at + 4));
}
