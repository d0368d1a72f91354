import type { Decision } from '../../../src/contracts/purchase';
import { untilSettled } from '../support/kill';
import { operatorOf } from '../../support/operator';
import type { TestEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/** How purchases ended, and what a person had to decide in which: the decision and the reason of the hold. */
export interface Ends {
  outcomes: Map<string, string>;
  decided: Map<string, string>;
}

/**
 * Decides what waits for a person as a careful one would, with the partner's orders beside them: the order that is there is
 * taken, what came is handed over, and what was never bought is given up. At the end nothing is left open.
 */
export async function decideHolds(environment: TestEnvironment, references: readonly string[]): Promise<Ends> {
  const decided = new Map<string, string>();
  for (;;) {
    const outcomes = await untilSettled(environment, references);
    const held = [...outcomes].filter(([, state]) => state === 'HELD').map(([referenceId]) => referenceId);
    if (held.length === 0) return { outcomes, decided };
    for (const referenceId of held) decided.set(referenceId, await decide(environment, referenceId));
  }
}

async function decide(environment: TestEnvironment, referenceId: string): Promise<string> {
  const { hold } = await environment.starter.status(referenceId);
  if (!hold) return decide(environment, referenceId);
  const [order] = await environment.sandbox.ordersOf(referenceId);
  const decision: Decision['decision'] = hold.decisions.includes('deliver') ? 'deliver' : order ? 'order' : 'abandon';
  const orderId = decision === 'order' ? order?.id : undefined;
  await operatorOf(environment, referenceId).resolve(decision, { hold: hold.id, orderId });
  const isDecided = async () => (await environment.starter.status(referenceId)).state !== 'HELD';
  await waitUntil(`${referenceId} is no longer held`, isDecided);
  return `--${decision}, held because ${hold.explanation}`;
}
