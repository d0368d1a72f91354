import type { Accepted, AcceptedItem } from '../../../src/domain/accepted';
import { keysToSend, type DeliveryScope, type SentKeys } from '../../../src/domain/late-keys';
import type { OrderSnapshot } from '../../../src/domain/order';

const items = [{ productId: 'p', quantity: 4 }];
const STATES: SentKeys['state'][] = ['received', 'failed', 'lost'];

const orderOf = (status: string, keys: string) => ({
  orderId: 'o-1',
  status,
  lines: [{ productId: 'p', quantity: 4, fingerprints: keys.split('') }],
});
const sentOf = (state: SentKeys['state'], keys: string) => ({ state, fingerprints: keys.split('') });

function inBrief(scope: DeliveryScope, order: ReturnType<typeof orderOf> | undefined, sent: SentKeys[]): string {
  const { repeat, lines, missing, issue } = keysToSend(scope, { items }, order, sent);
  const again = repeat.map(({ fingerprints }) => fingerprints.join('')).join(',');
  const fresh = lines.flatMap(({ fingerprints }) => fingerprints).join('');
  return `again ${again || '-'}; new ${fresh || '-'}; missing ${missing}${issue === undefined ? '' : '; issue'}`;
}

describe('what is sent after the end of a purchase of four keys', () => {
  it.each<[string, string, SentKeys[], string, string]>([
    // status, its keys, what was sent before; by a reconciliation; by redeliver
    ['PENDING', '', [], 'again -; new -; missing 4', 'again -; new -; missing 4'],
    ['PARTIAL_COMPLETED', 'a', [], 'again -; new a; missing 3', 'again -; new a; missing 3'],
    ['COMPLETED', 'abcd', [], 'again -; new abcd; missing 0', 'again -; new abcd; missing 0'],
    ['COMPLETED', '', [], 'again -; new -; missing 4', 'again -; new -; missing 4'],
    ['PARTIAL_COMPLETED', 'a', [sentOf('received', 'a')], 'again -; new -; missing 3', 'again a; new -; missing 3'],
    ['PARTIAL_COMPLETED', 'abc', [sentOf('received', 'a')], 'again -; new bc; missing 1', 'again a; new bc; missing 1'],
    ['COMPLETED', 'bacd', [sentOf('received', 'a')], 'again -; new bcd; missing 0', 'again a; new bcd; missing 0'],
    ['COMPLETED', 'abcd', [sentOf('lost', 'ab')], 'again ab; new cd; missing 0', 'again ab; new cd; missing 0'],
    ['COMPLETED', 'abcd', [sentOf('failed', 'ab')], 'again -; new cd; missing 2', 'again ab; new cd; missing 0'],
    ['REFUNDED', 'ab', [sentOf('received', 'a')], 'again -; new -; missing 3', 'again a; new -; missing 3'],
    ['REFUNDED', 'ab', [sentOf('lost', 'a')], 'again -; new -; missing 4', 'again a; new -; missing 3'],
    [
      'COMPLETED',
      'abcde',
      [sentOf('lost', 'a')],
      'again -; new -; missing 4; issue',
      'again a; new -; missing 3; issue',
    ],
    // The same key twice in one order is two keys, in two events too.
    ['COMPLETED', 'abca', [sentOf('received', 'a')], 'again -; new bca; missing 0', 'again a; new bca; missing 0'],
    [
      'COMPLETED',
      'aabc',
      [sentOf('received', 'ab'), sentOf('failed', 'ac')],
      'again -; new -; missing 2',
      'again ab,ac; new -; missing 0',
    ],
    // An operator had the order delivered as it was when b was gone: a has gone out since, and not under a third id.
    [
      'COMPLETED',
      'acd',
      [sentOf('lost', 'ab'), sentOf('received', 'a')],
      'again -; new cd; missing 1',
      'again a; new cd; missing 1',
    ],
  ])('order %s of "%s", sent %j', (status, keys, sent, byReconciliation, byRedeliver) => {
    expect(inBrief('new', orderOf(status, keys), sent)).toBe(byReconciliation);
    expect(inBrief('all', orderOf(status, keys), sent)).toBe(byRedeliver);
  });

  it('is what was received, where no key is missing and the order is not read', () => {
    const sent = [sentOf('received', 'abcd'), sentOf('failed', 'ab')];
    expect(inBrief('all', undefined, sent)).toBe('again abcd; new -; missing 0');
    expect(inBrief('new', undefined, sent)).toBe('again -; new -; missing 0');
  });

  it('never is a key under a second event, and always every key of a good order that no event has named', () => {
    const keys = ['', 'a', 'ab', 'abcd', 'bcd'];
    const parts = keys.flatMap((some) => STATES.map((state) => sentOf(state, some)));
    const wrong: unknown[] = [];
    for (const scope of ['new', 'all'] as const)
      for (const status of ['COMPLETED', 'PARTIAL_COMPLETED', 'REFUNDED', 'FAILED', 'PROCESSING', 'UNRECOGNISED'])
        for (const present of keys)
          for (const first of parts)
            for (const second of parts) {
              const { lines } = keysToSend(scope, { items }, orderOf(status, present), [first, second]);
              const named = [...first.fingerprints, ...second.fingerprints];
              const isGood = status === 'COMPLETED' || status === 'PARTIAL_COMPLETED';
              const expected = isGood ? present.split('').filter((key) => !named.includes(key)) : [];
              const fresh = lines.flatMap(({ fingerprints }) => fingerprints);
              if (fresh.join() !== expected.join()) wrong.push({ scope, status, present, first, second, fresh });
            }
    expect(wrong).toEqual([]);
  });

  it('is nothing new of an order that another purchase names too', () => {
    const claimed = { ...orderOf('COMPLETED', 'abcd'), claimedBy: 'SALE-2' };
    expect(keysToSend('all', { items }, claimed, [])).toMatchObject({
      lines: [],
      issue: 'order o-1 also belongs to SALE-2',
    });
  });

  describe('of an order of which an operator has accepted that it is not as it should be', () => {
    const line = (productId: string, quantity: number, keys: string) => ({
      productId,
      quantity,
      fingerprints: keys.split(''),
    });
    const seen = (productId: string, quantity: number | undefined, keys: number): AcceptedItem => ({
      productId,
      quantity,
      keys,
    });
    const order: OrderSnapshot = { orderId: 'o-1', status: 'PARTIAL_COMPLETED', lines: [] };
    const bought = [
      { productId: 'p', quantity: 2 },
      { productId: 'q', quantity: 1 },
    ];

    it.each<[Accepted, Partial<OrderSnapshot>, { fresh: string; missing: number }]>([
      [{ items: [seen('r', 2, 1)] }, { lines: [line('r', 2, 'ab')] }, { fresh: 'b', missing: 0 }],
      [{ items: [seen('r', 3, 1)] }, { lines: [line('r', 3, 'ab')] }, { fresh: 'b', missing: 1 }],
      // More keys than its quantity were there already; the partner shows no quantity; what was bought has come after all.
      [{ items: [seen('r', 1, 2)] }, { lines: [line('r', 1, 'ab')] }, { fresh: 'b', missing: 0 }],
      [{ items: [seen('r', undefined, 2)] }, { lines: [line('r', 2, 'ab')] }, { fresh: 'b', missing: 0 }],
      [{ items: [seen('r', 1, 1)] }, { lines: [line('r', 1, 'a'), line('q', 1, 'b')] }, { fresh: 'b', missing: 0 }],
      [{ owner: true }, { lines: [line('p', 2, 'ab')], claimedBy: 'SALE-2' }, { fresh: 'b', missing: 1 }],
      [{ surplus: 1 }, { lines: [line('p', 2, 'abc'), line('q', 1, 'd')] }, { fresh: 'bcd', missing: 0 }],
      // A key too many of p makes up for no missing one of q.
      [{ surplus: 1 }, { lines: [line('p', 2, 'abc')] }, { fresh: 'bc', missing: 1 }],
    ])('%j: of %j the keys are delivered, and of nothing that was not accepted', (accepted, shown, expected) => {
      const send = (some: Accepted) =>
        keysToSend('new', { items: bought, accepted: some }, { ...order, ...shown }, [sentOf('received', 'a')]);
      const { lines, issue, missing } = send(accepted);
      const fresh = lines.flatMap(({ fingerprints }) => fingerprints).join('');
      expect({ fresh, missing, issue }).toEqual({ ...expected, issue: undefined });

      const others = { items: [], owner: true, surplus: 9 };
      for (const name of Object.keys(accepted) as (keyof Accepted)[]) delete (others as Accepted)[name];
      for (const some of [{}, others]) expect(send(some)).toMatchObject({ lines: [], issue: expect.any(String) });
    });

    it.each([
      [[seen('r', 1, 1)], [line('r', 1, 'abc')], '3 keys came for r, of which 1 were accepted'],
      [[seen('r', 1, 1)], [line('r', 3, 'abc')], 'the order holds 3 of r, of which 1 were accepted'],
      [[seen('r', undefined, 1)], [line('r', 3, 'abc')], '3 keys came for r, of which 1 were accepted'],
      [
        [seen('p', 2, 2)],
        [line('p', 2, 'a'), line('d', 5, 'bcdef')],
        'the order holds d, which nobody has bought or accepted',
      ],
      [[seen('r', 1, 1)], [line('r', 1, 'a'), line('p', 2, 'bcd')], '3 keys came for p, of which 2 were accepted'],
    ])('and of other items nothing that the operator has not seen: %j, then %j', (items, lines, issue) => {
      const sent = [sentOf('received', 'a')];
      const accepted = { items, owner: true, surplus: 9 };
      expect(keysToSend('all', { items: bought, accepted }, { ...order, lines }, sent)).toMatchObject({
        lines: [],
        issue,
      });
    });

    it('and no more keys too many than the operator has seen', () => {
      const grown = { ...order, lines: [line('p', 2, 'abcd')] };
      const { lines, issue } = keysToSend('new', { items: bought, accepted: { surplus: 1 } }, grown, []);
      expect({ lines, issue }).toEqual({ lines: [], issue: '4 keys came for p, of which 2 were ordered' });
    });
  });
});
