import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createDelivery, type DeliveryEvent } from '../../../src/delivery/index';
import { rejectionOf } from '../../support/checks';
import { temporaryFolder } from '../../support/clean-up';

let parent: string;
let dir: string;

beforeEach(() => {
  parent = temporaryFolder();
  dir = join(parent, 'made', 'when', 'needed');
});

function line(productId: string, ...values: string[]) {
  return { productId, quantity: 1, keys: values.map((value) => ({ id: `k.${value}`, type: 'text', value })) };
}

function withData(data: Partial<DeliveryEvent['body']['data']>): DeliveryEvent {
  const timestamp = '2026-01-01T00:00:00.000Z';
  return { id: 'evt_1', body: { type: 'purchase.delivered', timestamp, data: { referenceId: 'R', ...data } } };
}

function event(value = 'fake-key-1'): DeliveryEvent {
  return withData({ lines: [line('p-1', value)] });
}

/** As text: the file of that event, but for what is named. */
function fileOf(other: { id?: string; type?: string; data?: Partial<DeliveryEvent['body']['data']> } = {}): string {
  const { id, body } = event();
  return JSON.stringify({ id, ...body, ...other, data: { ...body.data, ...other.data } });
}

const folder = () => createDelivery({ kind: 'folder', dir });

describe('a delivery into a folder', () => {
  it('is one file named by the event, for its owner alone, and nothing else is left there', async () => {
    expect(await folder().deliver(event())).toBe(true);
    expect(readdirSync(dir)).toEqual(['evt_1.json']);
    expect(statSync(join(dir, 'evt_1.json')).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o077).toBe(0);
    expect(JSON.parse(readFileSync(join(dir, 'evt_1.json'), 'utf8'))).toEqual({ id: 'evt_1', ...event().body });
  });

  it('that comes again is a success and changes nothing, also when twenty come at once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => folder().deliver(event())));
    const before = statSync(join(dir, 'evt_1.json'));
    await folder().deliver(event());
    expect(statSync(join(dir, 'evt_1.json'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    expect(readdirSync(dir)).toEqual(['evt_1.json']);
  });

  it('that comes with another time, debit and order of its keys is a success and changes nothing', async () => {
    await folder().deliver(withData({ totalDebit: 2, lines: [line('p-1', 'fake-key-1', 'fake-key-2')] }));
    const before = readFileSync(join(dir, 'evt_1.json'), 'utf8');
    const { id, body } = withData({ reason: 'refunded', lines: [line('p-1', 'fake-key-2', 'fake-key-1')] });
    await folder().deliver({ id, body: { ...body, timestamp: '2026-01-02T00:00:00.000Z' } });
    expect(readFileSync(join(dir, 'evt_1.json'), 'utf8')).toBe(before);
  });

  it.each([
    ['the half of it', fileOf().slice(0, -1)],
    ['nothing', ''],
    ['what is no event', '{"id":"evt_1"}'],
    ['one of another id', fileOf({ id: 'evt_2' })],
    ['one of another type', fileOf({ type: 'purchase.refunded' })],
    ['one of another reference', fileOf({ data: { referenceId: 'R-2' } })],
    ['one of another order', fileOf({ data: { orderId: 'o-2' } })],
    ['one with another key', fileOf({ data: { lines: [line('p-1', 'fake-key-2')] } })],
    ['one without its key', fileOf({ data: { lines: [line('p-1')] } })],
    ['one with its key twice', fileOf({ data: { lines: [line('p-1', 'fake-key-1', 'fake-key-1')] } })],
    ['one with its key for another product', fileOf({ data: { lines: [line('p-2', 'fake-key-1')] } })],
  ])('has not arrived where %s lies under its id: that is not overwritten, and no key is shown', async (_, content) => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'evt_1.json'), content);
    const error = await rejectionOf(folder().deliver(event()));
    expect(error).toMatchObject({ kind: 'conflict' });
    expect(inspect(error)).not.toMatch(/fake-key/);
    expect(readFileSync(join(dir, 'evt_1.json'), 'utf8')).toBe(content);
    expect(readdirSync(dir)).toEqual(['evt_1.json']);
  });

  it('takes away what an attempt that died left of the same event, which holds keys', async () => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'evt_1.json.of-a-dead-worker.part'), '{"id":"evt_1"');
    writeFileSync(join(dir, 'evt_10.json.of-another-worker.part'), '{"id":"evt_10"');
    await folder().deliver(event());
    expect(readdirSync(dir).toSorted()).toEqual(['evt_1.json', 'evt_10.json.of-another-worker.part']);
  });

  it('that cannot be written is an error that is tried again, not a crash', async () => {
    writeFileSync(join(parent, 'made'), 'a file where a folder should be');
    const message = expect.stringContaining('ENOTDIR') as string;
    await expect(folder().deliver(event())).rejects.toMatchObject({ kind: 'storage', message });
  });

  it.each(['../evt_1', 'a/b', '', '.'])('does not leave its folder for an id such as %j', async (id) => {
    await expect(folder().deliver({ ...event(), id })).rejects.toThrow(TypeError);
    expect(readdirSync(parent)).toEqual([]);
  });
});
