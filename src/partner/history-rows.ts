import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { problemsOf } from './problems';

/** A row of the order history that can't be read, and of its fields those that can. */
export interface UnreadableRow {
  /** Its place on its page, from 0. */
  at: number;
  /** Distinguishes it from others where it has no id. Not to be shown: an unkeyed hash of what may hold a key. */
  digest: string;
  id?: string;
  referenceId?: string;
  /** As the partner wrote it, in UTC if it names no zone; a date and time that `Date.parse` can read. */
  createdAt?: string;
  /** Epoch ms: it was created no later, as its own date shows, or those of its neighbours in a list that is in order. */
  notAfter?: number;
  /** What is expected where: see {@link problemsOf}. */
  problems: string[];
}

/** Whether a row of the order history can't be read. */
export function isUnreadable<Row extends object>(row: Row | UnreadableRow): row is UnreadableRow {
  return 'problems' in row;
}

/** The rows that can be read, and the others. */
export function byReadability<Row extends object>(
  rows: readonly (Row | UnreadableRow)[],
): { readable: Row[]; unreadable: UnreadableRow[] } {
  return {
    readable: rows.filter((row) => !isUnreadable(row)) as Row[],
    unreadable: rows.filter((row) => isUnreadable(row)) as UnreadableRow[],
  };
}

interface ReadRow {
  createdAt: string;
}

/** What the fields of a row must be to be read without the others. */
export type RowFields = Record<'id' | 'reference_id' | 'created_at', z.ZodType<string>>;

/** Reads each row for itself: one that can't be read costs none of the others. */
export function readRows<Row extends ReadRow>(
  rows: readonly unknown[],
  schema: z.ZodType<Row>,
  fields: RowFields,
): { orders: Row[]; unreadable: UnreadableRow[] } {
  const results = rows.map((row) => schema.safeParse(row));
  const orders = results.flatMap((result) => (result.success ? [result.data] : []));
  const times = results.map((result) => (result.success ? Date.parse(result.data.createdAt) : undefined));
  const direction = directionOf(times.filter((time) => time !== undefined));
  const unreadable = results.flatMap((result, at) => {
    if (result.success) return [];
    const readable = readableFields(rows[at], fields);
    const notAfter =
      readable.createdAt === undefined ? neighbour(times, at, direction) : Date.parse(readable.createdAt);
    return [{ at, digest: digestOf(rows[at]), ...readable, notAfter, problems: problemsOf(result.error) }];
  });
  return { orders, unreadable };
}

/** A row of the catalogue that can't be read. */
export type UnreadableProduct = Pick<UnreadableRow, 'digest' | 'problems'>;

/** Reads each product for itself, as {@link readRows}. */
export function readProducts<Row>(
  rows: readonly unknown[],
  schema: z.ZodType<Row>,
): { products: Row[]; unreadable: UnreadableProduct[] } {
  const results = rows.map((row) => schema.safeParse(row));
  return {
    products: results.flatMap((result) => (result.success ? [result.data] : [])),
    unreadable: results.flatMap((result, at) =>
      result.success ? [] : [{ digest: digestOf(rows[at]), problems: problemsOf(result.error) }],
    ),
  };
}

function readableFields(row: unknown, fields: RowFields): Pick<UnreadableRow, 'id' | 'referenceId' | 'createdAt'> {
  const value = (name: keyof RowFields) => {
    const field =
      typeof row === 'object' && row !== null && Object.hasOwn(row, name) ? Reflect.get(row, name) : undefined;
    return fields[name].safeParse(field).data;
  };
  return { id: value('id'), referenceId: value('reference_id'), createdAt: value('created_at') };
}

/** Where the newer rows are: before (-1), behind (1), or nobody knows (0). */
function directionOf(times: readonly number[]): -1 | 0 | 1 {
  const steps = times.slice(1).map((time, index) => Math.sign(time - (times[index] ?? time)));
  const [rises, falls] = [steps.includes(1), steps.includes(-1)];
  if (rises === falls) return 0;
  return rises ? 1 : -1;
}

/** The time of the nearest row on the newer side. */
function neighbour(times: readonly (number | undefined)[], at: number, direction: -1 | 0 | 1): number | undefined {
  if (direction === 0) return undefined;
  const newer = direction === 1 ? times.slice(at + 1) : times.slice(0, at).toReversed();
  return newer.find((time) => time !== undefined);
}

function digestOf(row: unknown): string {
  return createHash('sha256').update(JSON.stringify(row)).digest('base64url');
}
