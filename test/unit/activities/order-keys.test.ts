import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import { addKeyIds, snapshotOf } from '../../../src/activities/order-keys';
import { createFingerprinter } from '../../../src/delivery';
import type { Order } from '../../../src/partner';

const fingerprints = createFingerprinter(() => ['fake-secret-of-32-bytes-or-a-little-more']);
const secretId = fingerprints.newestId();
const text = (value: string) => ({ type: 'text', value });

function orderWith(status: string, ...products: [id: string, ...values: string[]][]): Order {
  const lines = products.map(([id, ...values]) => ({ id, title: id, quantity: 2, keys: values.map(text) }));
  return { id: 'o-1', status, products: lines, totalDebit: 9.99, ignored: [] as string[] } as Order;
}

describe('the keys of an order', () => {
  const order = orderWith('COMPLETED', ['a', 'A', 'B'], ['b', 'A'], ['a', 'A']);

  it('have an id each, even if a product has identical keys in several lines', () => {
    const [one, other, ofB, again] = addKeyIds({ fingerprints }, order, secretId).flatMap(({ keys }) => keys);
    expect(one).toEqual({ id: fingerprints.keyIds([text('A')], secretId)?.[0], ...text('A') });
    expect(again).toEqual({ id: `${one?.id}#2`, ...text('A') });
    // Ids are counted per product, so the same key of another product gets no "#2".
    expect([ofB?.id, other?.value]).toEqual([one?.id, 'B']);
  });

  it('never get ids from another secret, which would make them other keys; the delivery is retried until the secret is back', () => {
    const name = () => addKeyIds({ fingerprints }, order, 'gone');
    expect(name).toThrow(expect.objectContaining({ type: 'SecretMissing', nonRetryable: false }));
    expect(name).toThrow('this worker has no FINGERPRINT_SECRET with the id gone');
  });

  it.each([
    ['COMPLETED', 'COMPLETED', 4],
    ['PARTIAL_COMPLETED', 'PARTIAL_COMPLETED', 4],
    ['REFUNDED', 'REFUNDED', 0],
    ['PROCESSING', 'PROCESSING', 0],
    ['KEY 1234-5678', 'UNRECOGNISED', 0],
  ])('never enter a workflow, and their ids do so only while the keys may be delivered: %s', (status, shown, count) => {
    const snapshot = snapshotOf('o-1', { ...order, status }, addKeyIds({ fingerprints }, order, secretId));
    expect(snapshot).toMatchObject({ orderId: 'o-1', status: shown, totalDebit: 9.99 });
    expect(snapshot.lines.map(({ productId }) => productId)).toEqual(['a', 'b', 'a']);
    expect(snapshot.lines.flatMap(({ keyIds }) => keyIds)).toHaveLength(count);
    expect(JSON.stringify(snapshot)).not.toContain('"value"');
  });

  it('cause one warning that names the malformed fields, and only once the order has ended', async () => {
    const lines: LogEntry[] = [];
    const logger = new DefaultLogger('WARN', (line) => void lines.push(line));
    for (const status of ['PROCESSING', 'COMPLETED']) {
      const odd = { ...order, status, ignored: ['balance', 'total_debit'] };
      await new MockActivityEnvironment({}, { logger }).run(async () => snapshotOf('o-1', odd, []));
    }
    expect(lines).toMatchObject([{ level: 'WARN', meta: { orderId: 'o-1', fields: 'balance, total_debit' } }]);
  });
});
