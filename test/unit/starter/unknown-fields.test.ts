import type { Client } from '@temporalio/client';
import {
  createStarter,
  InvalidArgumentError,
  InvalidPurchaseError,
  isRetryable,
  NoResponseError,
  type PurchaseInput,
} from '../../../src/starter/index';
import { rejectionOf } from '../../support/checks';

const SALE = { referenceId: 'SALE-1', items: [{ productId: 'demo-instant', quantity: 1 }] };

/** What the library says of an input. Its client can't contact anything. */
async function faultsOf(input: unknown): Promise<readonly string[]> {
  const error = await rejectionOf(createStarter({} as Client).purchase(input as PurchaseInput));
  return error instanceof InvalidPurchaseError ? error.issues : [`another error: ${String(error)}`];
}

describe('createStarter', () => {
  it.each([NaN, 0, -1, Infinity, 2 ** 31])('refuses to wait %s ms, for which there is no timer', (timeoutMs) => {
    expect(() => createStarter({} as Client, { timeoutMs })).toThrow(/^timeoutMs: expected 1 to 2147483647, got/);
  });
});

describe('a misspelt option, as from JavaScript', () => {
  const starter = createStarter({ withDeadline: (_: number, run: () => unknown) => run() } as unknown as Client);

  it('of createStarter is refused, because the purchase would start on another queue', () => {
    expect(() => createStarter({} as Client, { taskqueue: 'games' } as object)).toThrow('Did you mean taskQueue?');
  });

  it('of list is refused', async () => {
    await expect(starter.list({ states: ['HELD'] } as object)).rejects.toThrow('Did you mean state?');
  });

  it('of resolve is refused, because a decision can not be undone', async () => {
    const choice = { decision: 'deliver', orderID: 'o-1' } as const;
    await expect(starter.resolve('SALE-1', choice)).rejects.toThrow('expected only the fields decision, got orderID');
  });

  it.each([undefined, '', {}, 'a b'])('such as the reference %p is refused by every method', async (reference) => {
    const { result, status, resolve, redeliver, cancel } = starter;
    for (const method of [result, status, resolve, redeliver, cancel]) {
      const refused = method(reference as string, { decision: 'abandon' });
      await expect(refused).rejects.toThrow(InvalidArgumentError);
    }
  });
});

describe('isRetryable', () => {
  it.each<[string, unknown, boolean]>([
    ['no answer', new NoResponseError('no answer'), true],
    ['an overloaded server', Object.assign(new Error('busy'), { cause: { code: 8 } }), true],
    ['a lost connection', new Error('Failed to connect before the deadline'), true],
    ['an invalid purchase', new InvalidPurchaseError(['no items']), false],
    ['a bug', new TypeError('undefined is not a function'), false],
    ['another bug', new RangeError('invalid date'), false],
    ['no error at all', undefined, false],
    ['a method that the server lacks', { cause: { code: 12 } }, false],
    ['a missing namespace', Object.assign(new Error('no such namespace'), { name: 'NamespaceNotFoundError' }), false],
    ['a rejected key', Object.assign(new Error('refused'), { cause: { code: 16 } }), false],
    ['a rejected request', Object.assign(new Error('refused'), { code: 3 }), false],
  ])('%s', (_, error, expected) => {
    expect(isRetryable(error)).toBe(expected);
  });
});

describe('a field that a purchase does not have, as from JavaScript', () => {
  it('is refused with the nearest name, because the purchase would have no limit', async () => {
    expect(await faultsOf({ ...SALE, maxDebt: 1 })).toEqual([
      'expected only the fields referenceId, items, maxDebit, got maxDebt. Did you mean maxDebit?',
    ]);
  });

  it('is refused in an item, too, and without a name if none is near', async () => {
    expect(await faultsOf({ ...SALE, items: [{ ...SALE.items[0], maxDebit: 1 }] })).toEqual([
      'items[0]: expected only the fields productId, quantity, got maxDebit',
    ]);
  });

  it('is reported with all other faults, on one line', async () => {
    expect(await faultsOf({ referenceId: 'SALE-1', item: SALE.items, 'a\nb': 1 })).toEqual([
      expect.stringContaining('items: expected a list'),
      'expected only the fields referenceId, items, maxDebit, got item. Did you mean items?',
      'expected only the fields referenceId, items, maxDebit, got a b',
    ]);
  });

  it('is all that this check refuses', async () => {
    expect(await faultsOf({ ...SALE, maxDebit: undefined })).toEqual([expect.stringContaining('another error')]);
    expect(await faultsOf(null)).toHaveLength(1);
    expect(await faultsOf({ ...SALE, items: [null] })).toEqual([expect.stringContaining('items[0]: expected')]);
  });
});
