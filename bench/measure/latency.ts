import { type Environment, withEnvironment } from '../environment';
import { callEach, POLLED_AT_ONCE, references, untilReached } from '../load';
import type { PartnerRequest } from '../sandbox';
import { percentile } from '../statistics';
import type { Measured, Run } from './run';

export interface LatencySettings {
  purchases: number;
  /** From the start of one purchase to the next, ms. */
  everyMs: number;
  /** How long the partner takes for each response, ms. */
  partnerRespondsAfterMs: number;
}

/** Gives up on the rest when nothing has been delivered for this long. */
const STALL_MS = 60_000;

/** The time from the checkout's call to the arrival of the event, and how much of it the partner took. */
export function measureLatency({ cli, side, progress }: Run, settings: LatencySettings): Promise<Measured> {
  const { purchases, everyMs, partnerRespondsAfterMs } = settings;
  return withEnvironment(cli, side, 1, async (environment) => {
    const { temporal, sandbox, receiver, startWorker } = environment;
    await sandbox.respondAfter(partnerRespondsAfterMs);
    await startWorker(POLLED_AT_ONCE);
    const calledAt = new Map<string, number>();
    const call = async (referenceId: string) => {
      calledAt.set(referenceId, Date.now());
      await side.start(temporal.client, referenceId, 'demo-instant', POLLED_AT_ONCE);
    };
    const untilDelivered = (count: number) => untilReached(count, () => receiver.deliveredAt.size, STALL_MS, progress);
    const [first = '', ...others] = references(purchases + 1);
    // The first purchase opens all connections, which a running checkout and worker already have.
    await call(first);
    await untilDelivered(1);
    calledAt.delete(first);
    await callEach(others, everyMs, call, progress);
    await untilDelivered(purchases + 1);
    return figures(environment, calledAt);
  });
}

async function figures({ sandbox, receiver }: Environment, calledAt: ReadonlyMap<string, number>): Promise<Measured> {
  const [log, ledger] = [await sandbox.log(), await sandbox.ledger()];
  const orderIds = new Map(ledger.references.map(({ referenceId, orders }) => [referenceId, orders[0]?.id]));
  const delivered = [...calledAt].flatMap(([referenceId, at]) => {
    const deliveredAt = receiver.deliveredAt.get(referenceId);
    if (deliveredAt === undefined) return [];
    const requests = log.filter(
      (request) => isAbout(request, referenceId, orderIds.get(referenceId)) && Date.parse(request.at) < deliveredAt,
    );
    const partnerMs = requests.reduce((sum, { respondedAfterMs = 0 }) => sum + respondedAfterMs, 0);
    return [{ arrivedMs: deliveredAt - at, partnerMs }];
  });
  const [arrived, partner] = [delivered.map(({ arrivedMs }) => arrivedMs), delivered.map((one) => one.partnerMs)];
  return {
    arrivedP50: percentile(arrived, 0.5),
    arrivedP95: percentile(arrived, 0.95),
    partnerP50: percentile(partner, 0.5),
    partnerP95: percentile(partner, 0.95),
    unfinished: calledAt.size - delivered.length,
  };
}

/** Whether it places, searches or reads the order of this purchase. */
function isAbout({ path, referenceId: placed }: PartnerRequest, referenceId: string, orderId = ''): boolean {
  const { pathname, searchParams } = new URL(path, 'http://partner');
  return placed === referenceId || searchParams.get('query') === referenceId || pathname === `/orders/${orderId}/keys`;
}
