import { Client, Connection } from '@temporalio/client';
import {
  createStarter,
  InvalidArgumentError,
  InvalidPurchaseError,
  isRetryable,
  NoResponseError,
  PurchaseDiffersError,
  type PurchaseInput,
} from '../../../src/starter/index';
import { rejectionOf } from '../../support/checks';
import { closeAtEnd } from '../../support/clean-up';

const SALE = { referenceId: 'SALE-1', items: [{ productId: 'demo-instant', quantity: 1 }] };

/** It can't contact anything. */
const CLIENT = {
  workflow: { getHandle: () => ({}) },
  withDeadline: (_: number, run: () => unknown) => run(),
  options: { namespace: 'default' },
} as unknown as Client;

/** What the library says of an input. */
async function faultsOf(input: unknown): Promise<readonly string[]> {
  const error = await rejectionOf(createStarter(CLIENT).purchase(input as PurchaseInput));
  return error instanceof InvalidPurchaseError ? error.issues : [`another error: ${String(error)}`];
}

describe('createStarter', () => {
  it.each([NaN, 0, -1, 0.5, Infinity, 2 ** 31, '5000', true])(
    'refuses a timeout of %p, which no timer supports',
    (ms) => {
      const create = () => createStarter(CLIENT, { timeoutMs: ms as number });
      expect(create).toThrow(/^timeoutMs: expected a whole number from 1 to 2147483647, got/);
    },
  );

  it('refuses anything but a client, says what it got and how to create one, and accepts a client from any copy of the package', () => {
    const connection = Connection.lazy();
    closeAtEnd(() => connection.close());
    const refused = (client: unknown) => {
      try {
        createStarter(client as Client);
        return 'accepted';
      } catch (error) {
        return error instanceof InvalidArgumentError ? error.message : String(error);
      }
    };
    expect(refused(undefined)).toMatch(
      /^client: expected a Client of @temporalio\/client, got nothing\. .*new Client\(/,
    );
    expect(refused(null)).toContain('got null.');
    expect(refused(connection)).toContain('got a Connection. ');
    expect(refused(new Client({ connection }).workflow)).toContain('got a WorkflowClient. ');
    expect(refused({})).toContain('got an object.');
    expect(refused('localhost:7233')).toContain('got "localhost:7233".');
    expect([refused(new Client({ connection })), refused(CLIENT)]).toEqual(['accepted', 'accepted']);
  });
});

describe('a misspelt option from JavaScript', () => {
  const starter = createStarter(CLIENT);

  it('of createStarter is refused, because the purchase would start on another queue', () => {
    expect(() => createStarter(CLIENT, { taskqueue: 'games' } as object)).toThrow('Did you mean taskQueue?');
  });

  it('of list is refused', async () => {
    await expect(starter.list({ states: ['HELD'] } as object)).rejects.toThrow('Did you mean state?');
  });

  it('or a misspelt state of list is refused', async () => {
    const refused = starter.list({ state: 'REFUND' } as object);
    await expect(refused).rejects.toThrow(InvalidArgumentError);
    await expect(refused).rejects.toThrow(
      /^state: expected one of PLACING, .+, got "REFUND"\. Did you mean REFUNDED\?$/,
    );
    await expect(starter.list({ state: {} } as object)).rejects.toThrow(/got an object$/);
  });

  it('of resolve is refused, because a decision cannot be undone', async () => {
    const choice = { decision: 'deliver', orderID: 'o-1' } as const;
    await expect(starter.resolve('SALE-1', choice)).rejects.toThrow(
      'expected only the fields decision, holdId, got orderID',
    );
  });

  it.each([undefined, '', {}, 'a b'])(
    'or a malformed reference such as %p is refused by every method',
    async (reference) => {
      const { result, status, resolve, redeliver, cancel } = starter;
      for (const method of [result, status, resolve, redeliver, cancel]) {
        const refused = method(reference as string, { decision: 'abandon' });
        await expect(refused).rejects.toThrow(InvalidArgumentError);
      }
    },
  );
});

describe('options that TypeScript would reject', () => {
  const starter = createStarter(CLIENT);

  it.each<[string, () => unknown, RegExp]>([
    [
      'a filter that is null',
      () => starter.list(null as never),
      /^expected an object with the fields state, maxAgeMs, limit, got null$/,
    ],
    [
      'result options that are null',
      () => starter.result('SALE-1', null as never),
      /^expected an object with the fields timeoutMs, got null$/,
    ],
    ['a limit of 0', () => starter.list({ limit: 0 }), /^limit: expected a whole number above 0, got 0$/],
    ['a limit that is a text', () => starter.list({ limit: '5' as never }), /^limit: .+ got "5"$/],
    [
      'a negative age',
      () => starter.list({ maxAgeMs: -1 }),
      /^maxAgeMs: expected a whole number of milliseconds, got -1$/,
    ],
  ])('%s is refused', async (_, call, message) => {
    await expect(call()).rejects.toThrow(InvalidArgumentError);
    await expect(call()).rejects.toThrow(message);
  });

  it.each([5, 'x'.repeat(65)])('the fairness key %p is refused', (fairnessKey) => {
    expect(() => createStarter(CLIENT, { fairnessKey: fairnessKey as never })).toThrow(
      /^fairnessKey: expected a string of at most 64 bytes/,
    );
  });
});

describe('an invalid decision is refused before Temporal is contacted', () => {
  it.each<[string, unknown, RegExp]>([
    ['none', undefined, /^expected a decision such as \{decision: 'abandon'\}, got nothing$/],
    ['null', null, /got null$/],
    ['a word alone', 'abandon', /got "abandon"$/],
    ['no field', {}, /^decision: expected one of order, replace, abandon, deliver, withhold, got nothing$/],
    ['a misspelt decision', { decision: 'abandons' }, /got "abandons"\. Did you mean abandon\?$/],
    ['an unknown decision', { decision: 'refund' }, /got "refund"$/],
    ['a misspelt field', { decisions: 'abandon' }, /^expected only the fields .*\. Did you mean decision\?$/],
    ['an order without an id', { decision: 'order' }, /^orderId: expected the id of an order/],
    ['an order id that is a number', { decision: 'order', orderId: 7 }, /^orderId: expected the id of an order/],
    [
      'a hold id that is a number',
      { decision: 'abandon', holdId: 7 },
      /^holdId: expected hold\.id of the status, got 7$/,
    ],
    ['an order id that would change a path', { decision: 'order', orderId: '../x' }, /^orderId: expected/],
    [
      'an order id with another decision',
      { decision: 'abandon', orderId: 'o-1' },
      /^expected only the fields decision/,
    ],
  ])('%s', async (_, choice, message) => {
    const contacted = jest.fn();
    const starter = createStarter({ ...(CLIENT as object), withDeadline: contacted } as unknown as Client);
    const refused = starter.resolve('SALE-1', choice as { decision: 'abandon' });
    await expect(refused).rejects.toThrow(InvalidArgumentError);
    await expect(refused).rejects.toThrow(message);
    expect(contacted).not.toHaveBeenCalled();
  });
});

it('the error for a reference of another sale also fits a purchase that has ended', () => {
  const details = { items: SALE.items, maxDebit: undefined };
  expect(new PurchaseDiffersError('SALE-1', details, { ...details, maxDebit: 5 }).message).toMatch(
    /nothing else was bought\. Find out which sale used this reference\. A different sale needs a new one\.$/,
  );
});

describe('isRetryable', () => {
  it.each<[string, unknown, boolean]>([
    ['no response', new NoResponseError('no answer'), true],
    ['a decision that may reach a later hold', new NoResponseError('no response', { isSafeToRepeat: false }), false],
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

describe('an unknown field of a purchase from JavaScript', () => {
  it('is refused with the nearest name as a suggestion, because the purchase would have no limit', async () => {
    expect(await faultsOf({ ...SALE, maxDebt: 1 })).toEqual([
      'expected only the fields referenceId, items, maxDebit, got maxDebt. Did you mean maxDebit?',
    ]);
  });

  it('is also refused in an item, without a suggestion if no name is near', async () => {
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

  it('is the only problem that this check reports', async () => {
    expect(await faultsOf({ ...SALE, maxDebit: undefined })).toEqual([expect.stringContaining('another error')]);
    expect(await faultsOf(null)).toHaveLength(1);
    expect(await faultsOf({ ...SALE, items: [null] })).toEqual([expect.stringContaining('items[0]: expected')]);
  });
});
