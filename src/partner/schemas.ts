import { z } from 'zod';
import { isSafeOrderId, type Key, mayHaveKeys } from '../domain/order';
import { readRows } from './rows';

/*
 * What the partner writes, and what it becomes here. Unknown fields are dropped. A documented field is required only if an
 * answer is of no use without it. Amounts are decimal numbers as the partner wrote them, not minor units.
 */

/** Texts for people are cut here, beyond the longest product id and reference: a cut one must look like none of them. */
const LONGEST_SHOWN = 201;
/** More than any purchase can ask for: 100 products, and 20,000 keys in all. */
const MOST_PRODUCTS = 500;
const MOST_KEYS = 30_000;
/** A shorter key is found in a text by chance. */
const SHORTEST_REDACTED = 6;
/** The partner's times are in UTC. One that does not say so would be read in the zone of this machine. */
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

// JSON.parse turns 1e999 into Infinity and rounds whole numbers beyond 2^53: what arrives then is not what was sent.
const amount = z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
const count = z.int().min(0);
const text = z.string().min(1);
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const listOf = <T extends z.ZodType>(schema: T) => optional(z.array(schema)).transform((rows) => rows ?? []);
const cut = (whole: string) => whole.slice(0, LONGEST_SHOWN);
const cutAny = (whole: string | null | undefined) => whole?.slice(0, LONGEST_SHOWN);
const pages = z.object({ page: z.int(), total: count, limit: count });

export const product = z.object({
  id: text,
  title: z.string(),
  /** Region codes. The partner shows neither their format nor how the two lists combine. */
  restrictions: z.object({ whitelist: listOf(z.string()), blacklist: listOf(z.string()) }),
  /** Pieces in stock. */
  quantity: z.int(),
  price: amount,
  /** One of CURRENCIES, or whatever else the partner sent. */
  currency: z.string(),
});

/** A cut id would be another id, so a longer one is none. */
const orderId = text.max(200);
const inUtc = (written: string) => (WITHOUT_ZONE.test(written) ? `${written}Z` : written);
const isTime = (written: string) => written.length <= 64 && !Number.isNaN(Date.parse(inUtc(written)));
const writtenTime = z.string().refine(isTime, 'a date and time');

/** Only shown, so a field of another shape is absent. How several items are shown is not documented. */
const historyItem = z.object({
  id: z.string().nullish().catch(undefined),
  title: z.string().nullish().catch(undefined),
  quantity: z.int().nullish().catch(undefined),
  amount: amount.nullish().catch(undefined),
});

/** One transform for the whole row: one for each field costs some hundred bytes, in each of a hundred thousand rows. */
export const historyOrder = z
  .object({
    id: orderId,
    // Absent if the order was not made through this interface.
    reference_id: z.string().nullish(),
    // As the partner wrote it; it does not say that these are the fulfilment statuses.
    status: text,
    item: historyItem.optional().catch(undefined),
    created_at: writtenTime,
  })
  .transform(({ id, reference_id, status, item, created_at }) => ({
    id,
    status: cut(status),
    referenceId: cutAny(reference_id),
    item: item && {
      id: cutAny(item.id),
      title: cutAny(item.title),
      quantity: item.quantity ?? undefined,
      amount: item.amount ?? undefined,
    },
    createdAt: inUtc(created_at),
  }));

const readableFields = z
  .object({
    id: orderId.optional().catch(undefined),
    reference_id: text.transform(cut).optional().catch(undefined),
    created_at: writtenTime.transform(inUtc).optional().catch(undefined),
  })
  .transform(({ id, reference_id, created_at }) => ({ id, referenceId: reference_id, createdAt: created_at }));

/** `hits`: the matches on all pages together. A row that can't be read is set apart and takes no other with it. */
export const productPage = z.object({ hits: count, products: z.array(z.unknown()), pages }).transform((page) => {
  const { readable, unreadable } = readRows(page.products, product, readableFields);
  return { ...page, products: readable, unreadable };
});

export const orderPage = z.object({ hits: count, orders: z.array(z.unknown()), pages }).transform((page) => {
  const { readable, unreadable } = readRows(page.orders, historyOrder, readableFields);
  return { ...page, orders: readable, unreadable };
});

const key = z.object({ type: optional(z.string()).transform((type) => type ?? 'text'), value: text });

const orderedProduct = z.object({
  id: text,
  title: optional(z.string()),
  /** Pieces ordered. */
  quantity: optional(z.int()),
  keys: listOf(key),
});

const balance = z
  .object({ balance: optional(amount), credit_limit: optional(amount) })
  .transform((account) => ({ balance: account.balance, creditLimit: account.credit_limit }));

const productsMustBe = (message: string) => ({ path: ['products'], message });

export const orderWithKeys = z
  .object({
    id: z.string(),
    // One of the documented statuses, or whatever else the partner sent.
    status: text,
    products: optional(z.array(orderedProduct).max(MOST_PRODUCTS)),
    // Currency and unit are not documented.
    total_debit: optional(amount),
    // The account after the order.
    balance: optional(balance),
  })
  // A finished order whose products are missing must not pass for one without keys.
  .refine(({ status, products }) => products !== undefined || !mayHaveKeys(status), productsMustBe('array'))
  .refine(({ products }) => keysOf(products).length <= MOST_KEYS, productsMustBe(`at most ${MOST_KEYS} keys`))
  .transform(({ total_debit, products = [], status, ...rest }) => {
    const shown = redaction(status, products);
    return {
      ...rest,
      status: shown(status),
      products: products.map((one) => ({ ...one, id: shown(one.id), title: one.title && shown(one.title) })),
      totalDebit: total_debit,
    };
  });

/**
 * Takes the order's own keys out of a text, and cuts it. A partner may write a key into a title, a product id or a status, and
 * these reach histories and logs. Cut first, a text could end in a part of a key that is no longer recognised.
 */
function redaction(status: string, products: readonly z.output<typeof orderedProduct>[]): (whole: string) => string {
  const texts = [status, ...products.flatMap(({ id, title = '' }) => [id, title])].join('\n');
  const quoted = [...new Set(keysOf(products).map(({ value }) => value))]
    .filter((value) => value.length >= SHORTEST_REDACTED && texts.includes(value))
    // A key may be the beginning of another, whose rest would stay.
    .toSorted((one, other) => other.length - one.length);
  return (whole) => cut(quoted.reduce((left, value) => left.replaceAll(value, '[key]'), whole));
}

function keysOf(products: readonly z.output<typeof orderedProduct>[] = []): Key[] {
  return products.flatMap(({ keys }) => keys);
}

export const placedOrder = z.object({ id: z.string().refine(isSafeOrderId, 'an id that may be part of a path') });

export const envelope = z.object({
  status: z.int().min(200).max(299),
  success: z.literal(true),
  details: z.object({ data: z.unknown() }),
});
