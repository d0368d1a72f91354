import type { z } from 'zod';
import type { EVENTS, EventType } from '../../../src/contracts/events';
import type * as Public from '../../../src/contracts/public-types';
import type { purchaseInput, purchaseMemo, purchaseResult } from '../../../src/contracts/purchase';

/** Removes the index signatures that open objects have in schemas. */
type Named<T> = T extends (infer Item)[]
  ? Named<Item>[]
  : T extends string
    ? T
    : T extends object
      ? { [Key in keyof T as string extends Key ? never : Key]: Named<T[Key]> }
      : T;

type Same<One, Other> = [Named<One>] extends [Named<Other>]
  ? [Named<Other>] extends [Named<One>]
    ? true
    : false
  : false;

type DataOf<Type extends EventType> = z.infer<(typeof EVENTS)[Type]['data']>;

/** The public type declares `lines` as absent, which helps receivers. */
type PublicDataOf<Type extends EventType> = WithoutAbsentLines<Extract<Public.KnownEvent, { type: Type }>['data']>;
type WithoutAbsentLines<Data> = Data extends { lines?: infer Lines }
  ? [Lines] extends [undefined]
    ? Omit<Data, 'lines'>
    : Data
  : Data;

type ParsedInput = z.infer<typeof purchaseInput>;
/** Callers may pass a readonly list. */
type AcceptedInput = Omit<ParsedInput, 'items'> & { items: Readonly<ParsedInput['items']> };

const inputs: Same<Public.PurchaseInput, AcceptedInput> = true;
const results: Same<Public.PurchaseResult, z.infer<typeof purchaseResult>> = true;
const holds: Same<Public.Hold, NonNullable<z.infer<typeof purchaseMemo>['hold']>> = true;
const received: Same<Public.ReceivedEvent[], NonNullable<z.infer<typeof purchaseMemo>['events']>> = true;
const events: { [Type in EventType]: Same<PublicDataOf<Type>, DataOf<Type>> } = {
  'purchase.delivered': true,
  'purchase.partially_delivered': true,
  'purchase.refunded': true,
  'purchase.failed': true,
  'purchase.rejected': true,
  'purchase.not_placed': true,
  'purchase.overdue': true,
  'purchase.cancelled': true,
  'purchase.abandoned': true,
  'purchase.late_delivery': true,
  'purchase.held': true,
  'purchase.attention': true,
  'reconciliation.completed': true,
  'doctor.test': true,
};
const types: Same<Public.KnownEvent['type'], EventType> = true;

it('the public types for checkouts match the schemas, as the compiler verifies', () => {
  expect([inputs, results, holds, received, types, ...Object.values(events)]).not.toContain(false);
});

describe('the kind of an attention notice', () => {
  type Kind = Public.AttentionData['kind'];

  it('may be one that a later version adds', () => {
    const later: Kind = 'ADDED_LATER';
    expect(later).toBe('ADDED_LATER');
  });

  it('offers the known kinds, which plain strings would hide', () => {
    const known: Extract<Kind, 'ORPHAN' | 'DELIVERED_KEYS_GONE'>[] = ['ORPHAN', 'DELIVERED_KEYS_GONE'];
    expect(known).toHaveLength(2);
  });

  it('comes with texts whose types need no check', () => {
    const details: Public.AttentionData['details'] = { orderIds: ['o-1'], explanation: 'why', advice: 'what to do' };
    const words: (string | undefined)[] = [details.explanation, details.advice];
    expect(words).toEqual(['why', 'what to do']);
  });
});
