import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_SAMPLES } from '../../../src/contracts/event-samples';
import { type CheckoutEvent, checkoutEvent, EVENTS, type EventType } from '../../../src/contracts/events';
import { eventTypeOf, PURCHASE_OUTCOMES } from '../../../src/domain/purchase-state';
import { undocumentedEvents } from '../../support/documented';

const TIMESTAMP = '2026-01-01T00:00:00.000Z';
const ITEM = { productId: 'p-1', title: 'Card 50', quantity: 1 };
const KEY = { id: 'k1.mac#2', type: 'text', value: 'fake-key' };
const SALE = { referenceId: 'SALE-1', orderId: 'ord-1', lines: [ITEM], totalDebit: 4.99 };
const WITH_KEYS = { ...SALE, lines: [{ ...ITEM, keys: [KEY] }] };
const HELD = { reason: 'ORDER_CHANGES', explanation: 'why', decisions: ['deliver'] };
const DETAILS = { orderIds: ['ord-1'], furtherOrders: 4.99, advice: 'Ask.' };

/** The samples of the documentation, and each event with all of its optional fields. */
const SAMPLES: [EventType, Record<string, unknown>][] = [
  ...EVENT_SAMPLES.map(({ type, data }): [EventType, Record<string, unknown>] => [type, { ...data }]),
  ...PURCHASE_OUTCOMES.map((outcome): [EventType, Record<string, unknown>] => [
    eventTypeOf(outcome),
    { ...(outcome.endsWith('DELIVERED') ? WITH_KEYS : SALE), outcome, reason: 'why' },
  ]),
  ['purchase.late_delivery', WITH_KEYS],
  ['purchase.refunded', { referenceId: 'SALE-1', orderId: 'ord-1', totalDebit: 4.99, reason: 'why' }],
  ['purchase.held', { referenceId: 'SALE-1', orderId: 'ord-1', ...HELD }],
  ['purchase.attention', { referenceId: '', orderId: 'ord-1', kind: 'KEYS_GONE', details: DETAILS }],
  ['reconciliation.completed', { referenceId: 'nightly', kind: 'RECONCILIATION', details: DETAILS }],
  ['doctor.test', { referenceId: 'doctor' }],
];

it('every event has a sample, and every form of a refund has one', () => {
  const types = EVENT_SAMPLES.map(({ type }) => type);
  expect(types.toSorted()).toEqual([...Object.keys(EVENTS), 'purchase.refunded'].toSorted());
});

it('every reason in a sample is one that the code produces', () => {
  const produced = clausesOf(literalsIn(join(__dirname, '../../../src')));
  const reasons = EVENT_SAMPLES.flatMap(({ data }) => {
    if ('explanation' in data) return [data.explanation];
    return 'reason' in data && data.reason ? [data.reason] : [];
  });
  expect(reasons.length).toBeGreaterThan(6);
  const unknown = clausesOf(reasons).filter((clause) => !produced.some((one) => wildcard(one).test(clause)));
  expect(unknown).toEqual([]);
});

/** The string and template literals of the sources, with `•` for each value that is filled in. */
function literalsIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('event-samples.ts'));
  return sources.flatMap((file) => {
    let code = readFileSync(join(folder, file), 'utf8').replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
    while (/\$\{[^{}]*\}/.test(code)) code = code.replace(/\$\{[^{}]*\}/g, '•');
    return [...code.matchAll(/`([^`]*)`|'([^'\n]*)'/g)].map(([, template, text]) => template ?? text ?? '');
  });
}

/** Reasons consist of clauses, each with some words of its own. */
function clausesOf(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(/; |, and /)).filter((clause) => /[a-z]{4}/.test(clause));
}

function wildcard(clause: string): RegExp {
  return new RegExp(`^${clause.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('•', '.*')}$`);
}

it('every field in the event reference has a meaning', () => {
  const page = readFileSync(join(__dirname, '../../../docs/reference/events.md'), 'utf8');
  const [, fields = ''] = page.split('## Fields');
  const meanings = [...fields.matchAll(/^\| `(.+?)` \| .*?\| (.*?) *\|$/gm)].map(([, name, meaning]) => ({
    name,
    meaning,
  }));
  expect(meanings.length).toBeGreaterThan(15);
  expect(meanings.filter(({ meaning }) => !meaning)).toEqual([]);
});

const isKnown = (type: EventType, data: unknown) => EVENTS[type].data.safeParse(data).success;
const isDocumented = (type: string, data: unknown) => undocumentedEvents([eventOf(type, data)]).length === 0;

it.each(SAMPLES)(
  '%s matches its documentation, and a checkout can read it even with fields added later',
  (type, sample) => {
    expect([isKnown(type, sample), isDocumented(type, sample)]).toEqual([true, true]);
    expect(isKnown(type, { ...sample, later: 'more' })).toBe(true);
    expect(checkoutEvent.parse({ ...eventOf(type, sample), later: 'more' })).toMatchObject({ type, data: sample });
  },
);

function eventOf(type: string, data: unknown): CheckoutEvent {
  return JSON.parse(JSON.stringify({ type, timestamp: TIMESTAMP, data })) as CheckoutEvent;
}
