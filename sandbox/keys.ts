import { toDataURL } from 'qrcode';
import { seededRandom } from './seeded-random';

const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

/** A delivered key as the API shows it. */
export interface Key {
  value: string;
  type: 'text' | 'image';
}

/**
 * A code derived from the seed, the number of the order, the line, and the position in that line. It has 75 bits, so
 * two orders never share a code by accident.
 */
export function keyText(seed: string, order: number, line: number, at: number): string {
  const text = seededRandom(seed, 'key', order, line, at).string(ALPHABET, 15);
  return `${text.slice(0, 5)}-${text.slice(5, 10)}-${text.slice(10)}`;
}

/** Returns the code as text, or as a data URL with a PNG of its QR code. */
export async function makeKey(text: string, image: boolean): Promise<Key> {
  return image ? { type: 'image', value: await toDataURL(text) } : { type: 'text', value: text };
}
