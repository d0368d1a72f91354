import { hash } from 'node:crypto';
import type { z } from 'zod';

/** An unreadable row of a list, with the fields that can be read. */
export interface UnreadableRow {
  /** Its index on its page. */
  at: number;
  /** A hash of the content, if any. Never show it: the hash is unkeyed, and the content may contain a key. */
  digest?: string;
  id?: string;
  referenceId?: string;
  /** In a format that `Date.parse` reads; UTC if the partner names no zone. */
  createdAt?: string;
  /** Epoch ms: it was created no later than this, by its own date or by the next newer row of an ordered list. */
  notAfter?: number;
  /** See {@link problemsOf}. */
  problems: string[];
}

export function isUnreadable<Row extends object>(row: Row | UnreadableRow): row is UnreadableRow {
  return 'problems' in row;
}

export function partitionByReadability<Row extends object>(rows: readonly (Row | UnreadableRow)[]) {
  return {
    readable: rows.filter((row) => !isUnreadable(row)) as Row[],
    unreadable: rows.filter((row) => isUnreadable(row)) as UnreadableRow[],
  };
}

/**
 * Reads each row on its own, so that a bad row does not affect the others.
 * @param fields what to read from a bad row
 */
export function readRows<Row extends object>(
  rows: readonly unknown[],
  schema: z.ZodType<Row>,
  fields: z.ZodType<Pick<UnreadableRow, 'id' | 'referenceId' | 'createdAt'>>,
): { readable: Row[]; unreadable: UnreadableRow[] } {
  const results = rows.map((row) => schema.safeParse(row));
  const newer = newerDates(results.map(({ data }): { createdAt?: string } => data ?? {}));
  const unreadable = results.flatMap(({ data, error }, at) => {
    if (data) return [];
    const known = fields.safeParse(rows[at]).data ?? {};
    const createdAt = known.createdAt ?? newer[at];
    const notAfter = createdAt === undefined ? undefined : Date.parse(createdAt);
    return [{ at, digest: digestOf(rows[at]), ...known, notAfter, problems: problemsOf(error) }];
  });
  return { readable: results.flatMap(({ data }) => (data ? [data] : [])), unreadable };
}

/** For each row, the date of the nearest newer row that has one. Empty unless the rows are ordered by time. */
function newerDates(rows: readonly { createdAt?: string }[]): (string | undefined)[] {
  const end = newestEndOf(rows);
  if (end !== 'first' && end !== 'last') return [];
  let nearest: string | undefined;
  const newestFirst = (end === 'first' ? rows : rows.toReversed()).map(({ createdAt }) => {
    const newer = nearest;
    nearest = createdAt ?? nearest;
    return newer;
  });
  return end === 'first' ? newestFirst : newestFirst.toReversed();
}

/** @returns undefined for a row that is nested too deeply to serialise. Only its place then identifies it. */
export function digestOf(row: unknown): string | undefined {
  try {
    return hash('sha256', JSON.stringify(row), 'base64url');
  } catch {
    return undefined;
  }
}

/** Which end of a list has the newest rows. `neither`: not ordered by time; `unknown`: too few rows to tell. */
export type NewestEnd = 'first' | 'last' | 'neither' | 'unknown';

/** By how much a row of an ordered list may be older than one before it: ids and dates are not given in one instant. */
const TOLERANCE_MS = 10_000;

/** Compares the rows, because the partner does not document the order. */
export function newestEndOf(rows: readonly { createdAt?: string }[]): NewestEnd {
  const times = timesOf(rows);
  // Only rows of a few seconds are in both orders with the tolerance.
  for (const toleranceMs of [TOLERANCE_MS, 0]) {
    const [rises, falls] = [isRising(times, toleranceMs), isRising(times.toReversed(), toleranceMs)];
    if (rises !== falls) return rises ? 'last' : 'first';
    if (!rises) return 'neither';
  }
  return 'unknown';
}

function isRising(times: readonly number[], toleranceMs: number): boolean {
  let newest = -Infinity;
  return times.every((time) => {
    newest = Math.max(newest, time);
    return newest - time <= toleranceMs;
  });
}

/** How many orders or products the rows are about. A row without a readable id counts as one. */
export function countIds(rows: readonly { id?: string | undefined }[]): number {
  return new Set(rows.map(({ id }, at) => id ?? at)).size;
}

/** The dates of the rows that have one, as epoch ms. */
export function timesOf(rows: readonly { createdAt?: string }[]): number[] {
  return rows.flatMap(({ createdAt }) => (createdAt === undefined ? [] : [Date.parse(createdAt)]));
}

/** The newest date of the rows, as epoch ms; -Infinity if none has one. */
export function newestOf(rows: readonly { createdAt?: string }[]): number {
  return timesOf(rows).reduce((newest, time) => Math.max(newest, time), -Infinity);
}

export function field(value: unknown, name: string): unknown {
  return Object.hasOwn(Object(value), name) ? Reflect.get(Object(value), name) : undefined;
}

/** What a schema expected and where, such as `details.data.hits: number`. Contains nothing that was received. */
export function problemsOf(error: z.ZodError | undefined, place: readonly string[] = []): string[] {
  const issues = error?.issues.slice(0, 5) ?? [];
  return issues.map((issue) => [[...place, ...issue.path].join('.'), expectedBy(issue)].filter(Boolean).join(': '));
}

function expectedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return issue.expected;
  if (issue.code === 'custom') return issue.message;
  return issue.code === 'invalid_value' ? issue.values.map(String).join(' or ') : 'a value in range';
}
