import { isBillable } from '../domain/order';
import type { UnreadableRow } from './rows';
import type { HistoryOrder, Product } from './types';

export type ListRow = Partial<Pick<UnreadableRow, 'id' | 'referenceId' | 'createdAt' | 'digest'>> &
  Partial<Pick<Product, 'price' | 'currency'>> &
  Partial<Pick<HistoryOrder, 'item' | 'status'>>;

/**
 * Identifies a row in a list. An id that appears with two references or two prices counts as two rows, and so does an
 * order that costs money by one row, and none by another.
 */
export type RowName = { id: string; variant?: string } | { digest?: string; place: number };

export function nameOf({ id, referenceId, status = '', price, currency, digest }: ListRow, place: number): RowName {
  if (id === undefined) return { digest, place };
  if (price !== undefined) return { id, variant: `${price} ${currency}` };
  return { id, variant: isBillable({ status }) ? referenceId : `${referenceId} ended without keys` };
}

/**
 * A set of row names. Nearly every id has one variant, so it is stored without copying the strings of 100,000 rows.
 */
export class RowSet {
  private readonly variants = new Map<string, string | undefined>();
  private readonly others = new Set<string>();

  get size(): number {
    return this.variants.size + this.others.size;
  }

  has(name: RowName): boolean {
    if (!('id' in name)) return this.others.has(JSON.stringify(name));
    if (!this.variants.has(name.id)) return false;
    return this.variants.get(name.id) === name.variant || this.others.has(JSON.stringify(name));
  }

  /** @returns whether the name is new to the set */
  add(name: RowName): boolean {
    if (this.has(name)) return false;
    if ('id' in name && !this.variants.has(name.id)) this.variants.set(name.id, name.variant);
    else this.others.add(JSON.stringify(name));
    return true;
  }
}
