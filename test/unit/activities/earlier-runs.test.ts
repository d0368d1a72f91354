import { readEarlierRuns } from '../../../src/activities/read-sale';
import type { ClosingMemo, PurchaseReader } from '../../../src/temporal/client/purchase-reader';

/** What earlier runs left behind in these closing memos; the first run recorded the secret `first`. */
function read(...memos: ClosingMemo[]) {
  const purchases: Pick<PurchaseReader, 'closingMemos' | 'recordedSecretId'> = {
    async *closingMemos() {
      yield* memos;
    },
    recordedSecretId: async ({ workflowId, runId }) => (workflowId === 'purchase-SALE-1' ? runId : undefined),
  };
  return readEarlierRuns(purchases as PurchaseReader, 'SALE-1', 'first');
}

const purchase = (memo: Record<string, unknown>): ClosingMemo => ({ isPurchase: true, memo });
const delivery = (memo: Record<string, unknown>): ClosingMemo => ({ isPurchase: false, memo });
const refund = { events: [{ id: 'evt_1', type: 'purchase.refunded', at: '2026-01-01T00:00:00.000Z' }] };

describe('what earlier runs and deliveries of a purchase left behind', () => {
  it('are the keys that any of them has confirmed, each once, and the secret that made their ids', async () => {
    const { confirmedKeyIds, fingerprintSecretId } = await read(
      purchase({ keyIds: { a: ['old.1'] } }),
      delivery({ keyIds: { a: ['old.1', 'old.2'], b: ['old.1'] } }),
      purchase({ keyIds: null }),
    );
    expect(confirmedKeyIds).toEqual({ a: ['old.1', 'old.2'], b: ['old.1'] });
    expect(fingerprintSecretId).toBe('old');
  });

  it('is the secret that the first run recorded where no key was confirmed, so that a reset makes the same ids', async () => {
    const nothing = { confirmedKeyIds: {}, refundConfirmed: false, fingerprintSecretId: 'first' };
    expect(await read(purchase({}))).toEqual(nothing);
    // Nor is a memo of another form believed.
    expect(await read(purchase({ keyIds: 'k.1' }), { isPurchase: false, memo: undefined })).toEqual(nothing);
  });

  it('shows whether the checkout knows of a refund after the end: the outcome of the purchase itself is none', async () => {
    expect(await read(delivery(refund), purchase({}))).toMatchObject({ refundConfirmed: true });
    expect(await read(purchase(refund), delivery({ events: [] }))).toMatchObject({ refundConfirmed: false });
  });
});
