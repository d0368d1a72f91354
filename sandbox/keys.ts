import { toDataURL } from 'qrcode';
import { seededRandom } from './seeded-random';

const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

/** A delivered asset as the interface shows it. */
export interface Key {
  value: string;
  type: 'text' | 'image';
}

/**
 * A code that only this place has: an order's number, the line in it and the place in that line. It has 75 bits by its place
 * and the seed, so two orders never share one by themselves.
 */
export function keyText(seed: string, order: number, line: number, at: number): string {
  const text = seededRandom(seed, 'key', order, line, at).string(ALPHABET, 15);
  return `${text.slice(0, 5)}-${text.slice(5, 10)}-${text.slice(10)}`;
}

/** The code as it is, or as a PNG of its QR code in a data URL. */
export async function makeKey(text: string, image: boolean): Promise<Key> {
  return image ? { type: 'image', value: await toDataURL(text) } : { type: 'text', value: text };
}
