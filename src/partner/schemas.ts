import { z } from 'zod';
import { canStopPolling, isSafeOrderId, type Key, mayHaveKeys } from '../domain/order';
import { toSingleLine } from '../domain/text-format';
import { keyRedaction } from './redact-keys';
import { field, readRows } from './rows';

/*
 * The partner's responses. Unknown fields are dropped, and a field is required only if the response is useless without
 * it. Amounts are decimal numbers as received. Texts are cleaned, except for keys and product ids.
 */

/** Longer than any product id or reference, so that a truncated text never equals one of them. */
const MAX_SHOWN_LENGTH = 201;
/** More than a purchase can ask for: 100 products and 20,000 keys. */
const MAX_PRODUCTS_READ = 500;
const MAX_KEYS_READ = 30_000;
/** A hundred full pages, for a partner that ignores the page size. Parsing more would block all other purchases. */
const MAX_ROWS_READ = 50_000;
/** The partner's times are in UTC. Without a zone, `Date.parse` would use the zone of this machine. */
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/;
/** ISO 8601: a date, or a date and time with a zone. `Date.parse` would read even "order 5" as a date. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?))?$/;

// JSON.parse turns 1e999 into Infinity and rounds integers beyond 2^53, so such values are not what was sent.
const amount = z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
/** Some servers write whole numbers as text. */
export const numberOf = (value: unknown) =>
  typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
const integer = z.preprocess(numberOf, z.int());
const count = z.preprocess(numberOf, z.int().min(0));
const text = z.string().min(1);
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);
const listOf = <T extends z.ZodType>(schema: T) => optional(z.array(schema)).transform((rows) => rows ?? []);
const cut = (whole: string) => toSingleLine(whole, MAX_SHOWN_LENGTH);
const cutAny = (whole: string | null | undefined) => (whole ? cut(whole) : (whole ?? undefined));
const shownText = z.string().transform(cut);
const pages = z.object({ page: integer, total: count, limit: count });

/** Some servers write ids as numbers. JSON.parse rounds integers beyond 2^53, so those would be another order's ids. */
const idOf = (value: unknown) => (Number.isSafeInteger(value) ? String(value) : value);

export const product = z.object({
  id: z.preprocess(idOf, text),
  title: shownText.catch(''),
  /** Region codes. Their format and how the lists combine are not documented. Absent means unknown. */
  restrictions: optional(z.object({ whitelist: listOf(shownText), blacklist: listOf(shownText) })).catch(undefined),
  /** Pieces in stock. Absent means unknown. */
  quantity: optional(integer).catch(undefined),
  price: amount,
  /** One of CURRENCIES, or any other text that the partner sent. */
  currency: shownText,
});

/** A longer id is invalid, because a truncated id would be another id. */
const orderId = z.preprocess(idOf, text.max(200));
const inUtc = (written: string) => (WITHOUT_ZONE.test(written) ? `${written}Z` : written);
const isTime = (written: string) => ISO_TIME.test(inUtc(written)) && !Number.isNaN(Date.parse(inUtc(written)));
const writtenTime = z.string().refine(isTime, 'a date and time');

/** Only displayed, so invalid fields are dropped. The partner does not document how it shows several items. */
const historyItem = z.object({
  id: z.string().nullish().catch(undefined),
  title: z.string().nullish().catch(undefined),
  quantity: z.int().nullish().catch(undefined),
  amount: amount.nullish().catch(undefined),
});

/** One transform for the whole row: a transform per field would cost hundreds of bytes for each of 100,000 rows. */
export const historyOrder = z
  .object({
    id: orderId,
    // Absent if the order was not placed through this interface. A number may have lost its zeros, so it is unreadable.
    reference_id: z.string().nullish(),
    // As received. The partner does not say whether these are the fulfilment statuses.
    status: text,
    item: historyItem.optional().catch(undefined),
    created_at: writtenTime,
  })
  .transform(({ id, reference_id, status, item, created_at }) => ({
    id: cut(id),
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
    id: orderId.transform(cut).optional().catch(undefined),
    reference_id: text.transform(cut).optional().catch(undefined),
    created_at: writtenTime.transform(inUtc).optional().catch(undefined),
  })
  .transform(({ id, reference_id, created_at }) => ({ id, referenceId: reference_id, createdAt: created_at }));

/** Some servers write an empty list as null. */
const rowsOfPage = z
  .custom<unknown[]>(
    (rows) => Array.isArray(rows) && rows.length <= MAX_ROWS_READ,
    `an array of at most ${MAX_ROWS_READ} rows`,
  )
  .nullable()
  .transform((rows) => rows ?? []);

/** `hits` counts the matches on all pages. Unreadable rows are separated and don't affect the others. */
export const productPage = z.object({ hits: count, products: rowsOfPage, pages }).transform((page) => {
  const { readable, unreadable } = readRows(page.products, product, readableFields);
  return { ...page, products: readable, unreadable };
});

export const orderPage = z.object({ hits: count, orders: rowsOfPage, pages }).transform((page) => {
  const { readable, unreadable } = readRows(page.orders, historyOrder, readableFields);
  return { ...page, orders: readable, unreadable };
});

/** The type decides nothing. */
const key = z.object({ type: shownText.catch('text'), value: text });

/** For fields that are only displayed or compared: no value makes the order unreadable. */
const anything = z.unknown().optional();

const orderedProduct = z.object({
  id: z.preprocess(idOf, text),
  title: anything,
  quantity: anything,
  keys: listOf(key),
});

const accountFields = z.object({ balance: anything, credit_limit: anything });
const title = z.string();
const quantity = z.int();

const productsMustBe = (message: string) => ({ path: ['products'], message });

/** Counted before anything is parsed, because each invalid key would become an issue. */
const boundedOrder = z
  .unknown()
  .refine(hasFewEnoughKeys, productsMustBe(`at most ${MAX_PRODUCTS_READ}, with at most ${MAX_KEYS_READ} keys`));

function hasFewEnoughKeys(whole: unknown): boolean {
  const products = field(whole, 'products');
  if (!Array.isArray(products)) return true;
  if (products.length > MAX_PRODUCTS_READ) return false;
  const counts = products.map((line) => field(line, 'keys')).map((keys) => (Array.isArray(keys) ? keys.length : 0));
  return counts.reduce((sum, length) => sum + length, 0) <= MAX_KEYS_READ;
}

const order = z
  .object({
    id: z.preprocess(idOf, z.string()),
    // One of the documented statuses, or any other text that the partner sent.
    status: text,
    products: optional(z.array(orderedProduct)),
    total_debit: anything,
    balance: anything,
  })
  // Without this, a finished order whose products are missing would pass as an order without keys.
  .refine(({ status, products }) => products !== undefined || !mayHaveKeys(status), productsMustBe('array'));

/** @param asked the product ids of the purchase. They are never redacted. */
export function orderWithKeys(asked: readonly string[]) {
  const readable = order.transform(({ id, status, products = [], total_debit, balance }) => {
    const ignored = new Set<string>();
    const read = <T>(name: string, schema: z.ZodType<T>, value: unknown): T | undefined => {
      if (value === undefined || value === null) return undefined;
      const { success, data } = schema.safeParse(value);
      if (!success) ignored.add(name);
      return data;
    };
    const lines = products.map((line) => ({
      id: line.id,
      title: read('products.title', title, line.title),
      /** Pieces ordered. */
      quantity: read('products.quantity', quantity, line.quantity),
      keys: line.keys,
    }));
    const texts = [status, ...lines.flatMap((line) => [line.id, line.title ?? ''])];
    const redact = keyRedaction(texts, keysOf(lines));
    const shown = (whole: string) => cut(redact(whole));
    const account = read('balance', accountFields, balance);
    return {
      id,
      // Not redacted even if a key reads the same: the order would never end.
      status: canStopPolling(status) ? status : shown(status),
      products: lines.map((line) => ({
        ...line,
        id: asked.includes(line.id) ? line.id : shown(line.id),
        title: line.title && shown(line.title),
      })),
      /** Currency and unit are not documented. */
      totalDebit: read('total_debit', amount, total_debit),
      /** The account after the order. */
      balance: account && {
        balance: read('balance.balance', amount, account.balance),
        creditLimit: read('balance.credit_limit', amount, account.credit_limit),
      },
      /** The names of fields of an unexpected shape, which were dropped. */
      ignored: [...ignored],
    };
  });
  return boundedOrder.pipe(readable);
}

function keysOf(products: readonly { keys: Key[] }[] = []): Key[] {
  return products.flatMap(({ keys }) => keys);
}

/** Some servers write 0 for "none". */
const isPlacedId = (id: string) => isSafeOrderId(id) && id !== '0';

export const placedOrder = z.object({
  id: z.preprocess(idOf, z.string().refine(isPlacedId, 'an id that is safe in a path')),
});

export const envelope = z.object({
  status: z.preprocess(numberOf, z.int().min(200).max(299)),
  success: z.literal(true),
  details: z.object({ data: z.unknown() }),
});
