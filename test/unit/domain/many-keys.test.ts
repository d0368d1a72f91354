import { partitionByEvent } from '../../../src/domain/already-delivered';
import { keysToSend } from '../../../src/domain/late-keys';

const SCANS = ['every', 'filter', 'find', 'findIndex', 'includes', 'indexOf', 'slice', 'some', 'splice'] as const;

/** How many entries of lists the work may have looked at: times say little on a shared machine. */
function entriesScanned(work: () => void): number {
  let scanned = 0;
  const spies = SCANS.map((name) => {
    const original = Array.prototype[name] as (...args: unknown[]) => unknown;
    const spy = jest.spyOn(Array.prototype as never as Record<string, () => unknown>, name);
    return spy.mockImplementation(function (this: unknown[], ...args: unknown[]) {
      scanned += this.length;
      return original.apply(this, args);
    } as () => unknown);
  });
  try {
    work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return scanned;
}

const keys = (count: number) => Array.from({ length: count }, (_, i) => `s.${i}`);
const lineOf = (fingerprints: string[]) => ({ productId: 'p', quantity: fingerprints.length, fingerprints });
const inHundreds = (all: string[]) => all.flatMap((_, i) => (i % 100 === 0 ? [all.slice(i, i + 100)] : []));

const WORK: Record<string, (present: string[], handedOver: string[]) => () => void> = {
  'putting keys into one event that was sent': (present, handedOver) => () => {
    const { repeat } = partitionByEvent([lineOf(present)], [{ received: true, fingerprints: handedOver }]);
    expect(repeat).toHaveLength(1);
  },
  'putting keys into many events that were sent': (present, handedOver) => {
    const earlier = inHundreds(handedOver).map((fingerprints) => ({ received: true, fingerprints }));
    return () => expect(partitionByEvent([lineOf(present)], earlier).rest).toEqual([]);
  },
  'putting keys into an event of which one key is gone': (present, handedOver) => () => {
    const sent = { received: true, fingerprints: [...handedOver, 's.gone'] };
    expect(partitionByEvent([lineOf(present)], [sent])).toMatchObject({ repeat: [], rest: [] });
  },
  'finding that no key is new': (present, handedOver) => () => {
    const items = [{ productId: 'p', quantity: present.length }];
    const order = { orderId: 'o-1', status: 'COMPLETED', lines: [lineOf(present)] };
    const sent = [{ state: 'received' as const, fingerprints: handedOver }];
    expect(keysToSend('new', { items }, order, sent)).toMatchObject({ lines: [], missing: 0 });
  },
  'finding that no event that failed was received under another id': (present, handedOver) => {
    const items = [{ productId: 'p', quantity: present.length }];
    const order = { orderId: 'o-1', status: 'COMPLETED', lines: [lineOf(present)] };
    const sent = inHundreds(handedOver).map((fingerprints) => ({ state: 'failed' as const, fingerprints }));
    return () => expect(keysToSend('all', { items }, order, sent)).toMatchObject({ lines: [], missing: 0 });
  },
};

// A workflow task that is not answered within ten seconds is given out again, for ever.
it.each(Object.entries(WORK))('%s is work in proportion to their number, not to its square', (_, make) => {
  const scanned = (count: number) => entriesScanned(make(keys(count), keys(count).toReversed()));
  expect(scanned(20_000)).toBeLessThan(20 * 20_000);
});
