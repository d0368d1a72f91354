import type { WorkflowExecutionInfo } from '@temporalio/client';
import { readEarlierRuns, secretIdBefore } from '../../../src/activities/read-ended-purchase';
import type { EarlierRun, PurchaseReader } from '../../../src/temporal/client/purchase-reader';

/** Reads these earlier runs. Every run but `unplaced` recorded its own id as the secret. */
function read(...runs: EarlierRun[]) {
  return readAll({}, ...runs);
}

async function readAll({ runIds = [] }: { runIds?: string[] }, ...runs: EarlierRun[]) {
  const workflowId = 'purchase-SALE-1';
  const purchases: Pick<PurchaseReader, 'earlierRuns' | 'runs' | 'recordedSecretId'> = {
    async *earlierRuns() {
      yield* runs;
    },
    runs: async () => runIds.map((runId) => ({ workflowId, runId }) as WorkflowExecutionInfo),
    recordedSecretId: async (run) =>
      run.workflowId === workflowId && run.runId !== 'unplaced' ? run.runId : undefined,
  };
  const earlier = await readEarlierRuns(purchases as PurchaseReader, 'SALE-1', 'own');
  const fingerprintSecretId = await secretIdBefore(purchases as PurchaseReader, 'SALE-1', 'first', earlier);
  return { ...earlier, fingerprintSecretId };
}

const purchase = (memo: Record<string, unknown>): EarlierRun => ({ isPurchase: true, memo, unconfirmedEvents: [] });
const delivery = (memo: Record<string, unknown>): EarlierRun => ({ isPurchase: false, memo, unconfirmedEvents: [] });
const refund = { events: [{ id: 'evt_1', type: 'purchase.refunded', at: '2026-01-01T00:00:00.000Z' }] };

describe('the record of earlier runs and deliveries of a purchase', () => {
  it('contains each confirmed key once, and the secret that made the key ids', async () => {
    const { receivedKeyIds, fingerprintSecretId } = await read(
      purchase({ keyIds: { a: ['old.1'] } }),
      delivery({ keyIds: { a: ['old.1', 'old.2'], b: ['old.1'] } }),
      purchase({ keyIds: null }),
    );
    expect(receivedKeyIds).toEqual({ a: ['old.1', 'old.2'], b: ['old.1'] });
    expect(fingerprintSecretId).toBe('old');
  });

  it('contains the secret of the first run if no key was confirmed, so that a reset makes the same key ids', async () => {
    const nothing = { receivedKeyIds: {}, refundReceived: false, keylessEvents: [], fingerprintSecretId: 'first' };
    expect(await read(purchase({}))).toEqual(nothing);
    // Malformed memos are ignored.
    expect(await read(purchase({ keyIds: 'k.1' }), { isPurchase: false, unconfirmedEvents: [] })).toEqual(nothing);
  });

  it('contains the secret of the oldest run that recorded one, so that a second start makes the same key ids', async () => {
    expect(await readAll({ runIds: ['unplaced', 'oldest', 'first'] })).toMatchObject({ fingerprintSecretId: 'oldest' });
    expect(await readAll({ runIds: ['unplaced'] })).toMatchObject({ fingerprintSecretId: 'first' });
  });

  it('shows whether the checkout knows of a later refund; the REFUNDED outcome of the purchase itself does not count', async () => {
    expect(await read(delivery(refund), purchase({}))).toMatchObject({ refundReceived: true });
    expect(await read(purchase(refund), delivery({ events: [] }))).toMatchObject({ refundReceived: false });
  });

  it.each([true, false])(
    'shows an event without keys that was sent without a confirmation, but not as a refund that was received (purchase: %s)',
    async (isPurchase) => {
      const unconfirmedEvents = ['purchase.late_delivery', 'purchase.refunded'];
      const found = { refundReceived: false, keylessEvents: ['purchase.refunded'] };
      expect(await read(purchase({}), { isPurchase, unconfirmedEvents })).toMatchObject(found);
    },
  );

  it.each(['refunded', 'failed', 'abandoned', 'rejected', 'not_placed', 'cancelled'])(
    'shows that the checkout has received purchase.%s, from any run or delivery',
    async (outcome) => {
      const type = `purchase.${outcome}`;
      const memo = { events: [{ id: 'evt_1', type, at: '2026-01-01T00:00:00.000Z' }] };
      expect(await read(purchase({}), purchase(memo))).toMatchObject({ keylessEvents: [type] });
      expect(await read(delivery(memo), purchase({}))).toMatchObject({ keylessEvents: [type] });
    },
  );
});
