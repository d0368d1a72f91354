import { z } from 'zod';
import { readProducts, readRows } from './history-rows';
import { redactKeys } from './redact-keys';

/*
 * What the partner writes, and what it becomes here. Fields that we don't know pass and are dropped. What the
 * partner's document shows is required where an answer is of no use without it, and may be missing elsewhere. Amounts
 * are decimal numbers as the partner wrote them, not minor units.
 */

// JSON.parse turns 1e999 into Infinity and rounds whole numbers beyond 2^53: what arrives then is not what was sent.
const amount = z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
const count = z.int().min(0);
const text = z.string().min(1);

/**
 * Texts that only people read are cut here: a history is no place for more of them. One more than the longest product id
 * that can be bought, and than the longest reference, so that a longer one never looks like it.
 */
const LONGEST_SHOWN = 201;
/** A cut id would be another id, so a longer one is none. */
const LONGEST_ID = 200;
const LONGEST_TIME = 64;
/** More than any purchase can ask for: 100 products, and 20,000 keys in all. */
const MOST_PRODUCTS = 500;
const MOST_KEYS = 30_000;

const cut = (whole: string) => whole.slice(0, LONGEST_SHOWN);
const cutAny = (whole: string | null | undefined) => whole?.slice(0, LONGEST_SHOWN);
const shownText = text.transform(cut);

const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const listOf = <T extends z.ZodType>(schema: T) =>
  z
    .array(schema)
    .nullish()
    .transform((rows) => rows ?? []);

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

/** One row that can't be read stands beside the others, and takes none of them with it. */
export const productPage = z
  .object({
    /** The matches on all pages together. */
    hits: count,
    products: z.array(z.unknown()),
    pages,
  })
  .transform(({ products, ...page }) => ({ ...page, ...readProducts(products, product) }));

const orderId = text.max(LONGEST_ID);
/** The partner's times are in UTC; one that does not say so would be read in the zone of this machine. */
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const inUtc = (written: string) => (WITHOUT_ZONE.test(written) ? `${written}Z` : written);
const writtenTime = z
  .string()
  .max(LONGEST_TIME, { abort: true })
  .refine((written) => !Number.isNaN(Date.parse(inUtc(written))), 'a date and time');
const time = writtenTime.transform(inUtc);

const historyItem = z.object({
  id: z.string().nullish(),
  title: z.string().nullish(),
  quantity: z.int().nullish(),
  amount: amount.nullish(),
});

/**
 * One transform for the whole row: there may be a hundred thousand rows, and zod makes objects of some hundred bytes for the
 * transform of each field, which take V8 as much memory again until it collects them.
 */
export const historyOrder = z
  .object({
    id: orderId,
    // Absent where the partner names none, as for an order that was made by other means than this interface.
    reference_id: z.string().nullish(),
    // As the partner wrote it; it does not say that these are the fulfilment statuses.
    status: text,
    // The item of an order of several is not shown. An object with a wrong field is an error all the same.
    item: z.preprocess((item) => (isPlainObject(item) ? item : undefined), historyItem.optional()),
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

/** One row that can't be read stands beside the others, and takes none of them with it. */
export const orderPage = z
  .object({
    hits: count,
    orders: z.array(z.unknown()),
    pages,
  })
  .transform(({ orders, ...page }) => ({
    ...page,
    ...readRows(orders, historyOrder, { id: orderId, reference_id: shownText, created_at: time }),
  }));

const key = z.object({
  type: z
    .string()
    .nullish()
    .transform((type) => type ?? 'text'),
  value: text,
});

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

/** A finished order whose products are missing must not pass for one without keys. */
export const orderWithKeys = z
  .object({
    id: z.string(),
    // One of the documented statuses, or whatever else the partner sent.
    status: text,
    products: optional(z.array(orderedProduct).max(MOST_PRODUCTS)),
    // Currency and unit: not shown by the partner.
    total_debit: optional(amount),
    // The account after the order.
    balance: optional(balance),
  })
  .refine(({ status, products }) => products !== undefined || !['COMPLETED', 'PARTIAL_COMPLETED'].includes(status), {
    path: ['products'],
    message: 'array',
  })
  .refine(({ products = [] }) => products.reduce((total, { keys }) => total + keys.length, 0) <= MOST_KEYS, {
    path: ['products'],
    message: `at most ${MOST_KEYS} keys`,
  })
  // Cut first, a text could end in a part of a key that is no longer recognised.
  .transform(({ total_debit, products, ...rest }) =>
    redactKeys({ ...rest, products: products ?? [], totalDebit: total_debit }, LONGEST_SHOWN),
  );

/** A whole answer with this payload. Made once for each payload: zod compiles a schema when it first parses with it. */
export function answerWith<T>(payload: z.ZodType<T>) {
  return z.object({
    status: z.int().min(200).max(299),
    success: z.literal(true),
    details: z.object({ data: payload }),
  });
}

export type AnswerSchema<T> = ReturnType<typeof answerWith<T>>;

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
