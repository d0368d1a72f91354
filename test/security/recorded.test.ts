import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSandbox } from '../../sandbox/index';
import { keysOf } from '../support/audit';

const ROOT = join(__dirname, '../..');
const RECORDED = /\.(json|jsonl|snap|bin|log|txt)$/;

/** A key of the sandbox, or an image of one. */
const KEY = /\b[2-9A-HJ-NP-Z]{5}-[2-9A-HJ-NP-Z]{5}-[2-9A-HJ-NP-Z]{5}\b|data:image\/png;base64,/;

/** Whether a text contains a key of the sandbox, plain or in base64, the encoding of recorded payloads. */
function holdsKey(text: string): boolean {
  if (KEY.test(text)) return true;
  const encoded = text.match(/[A-Za-z0-9+/_-]{16,}={0,2}/g) ?? [];
  return encoded.some((part) => {
    const decoded = Buffer.from(part, 'base64').toString('utf8');
    return KEY.test(decoded) || (/^[\x20-\x7e\s]+$/.test(decoded) && decoded.length > 16 && holdsKey(decoded));
  });
}

function recordedFiles(): string[] {
  return ['test', 'bench', 'docs']
    .map((folder) => join(ROOT, folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
    .filter((path) => RECORDED.test(path));
}

describe('the files recorded in this project', () => {
  it('would fail this search if they contained a sandbox key, even in a payload or a nested payload', async () => {
    const sandbox = await startSandbox();
    const items = ['demo-instant', 'demo-image'].map((id) => ({ id, quantity: 1 }));
    await sandbox.placeManualOrder({ referenceId: 'R', items, createdAt: '2026-01-01T00:00:00Z' });
    const [order] = await sandbox.ordersOf('R');
    const values = keysOf(order!);
    await sandbox.close();

    expect(values).toHaveLength(2);
    for (const value of values) {
      const payload = Buffer.from(JSON.stringify({ key: value })).toString('base64');
      const nested = Buffer.from(JSON.stringify({ data: payload })).toString('base64');
      for (const text of [value, payload, nested]) expect(holdsKey(JSON.stringify({ data: text }))).toBe(true);
    }
    expect(holdsKey(JSON.stringify({ fingerprint: 'Ab3dEf.Q7X2MN4RTW8KZBA5' }))).toBe(false);
  });

  it('contain no key: histories for the replay, results, snapshots', () => {
    expect(recordedFiles().filter((path) => holdsKey(readFileSync(path, 'utf8')))).toEqual([]);
  });
});
