import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDelivery, type DeliveryEvent } from '../../../src/delivery/index';
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

function event(): DeliveryEvent {
  return withData({ lines: [line('p-1', 'fake-key-1')] });
}

/** As text: the file of that event. */
function fileOf(): string {
  const { id, body } = event();
  return JSON.stringify({ id, ...body });
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

  it('that comes again is a success and one whole file, also when twenty come at once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => folder().deliver(event())));
    await folder().deliver(event());
    expect(readFileSync(join(dir, 'evt_1.json'), 'utf8')).toBe(
      `${JSON.stringify(JSON.parse(fileOf()), undefined, 2)}\n`,
    );
    expect(readdirSync(dir)).toEqual(['evt_1.json']);
  });

  it('replaces the half of a file that lies under its id, and leaves what a link under its id points to', async () => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(parent, 'precious'), 'untouched');
    for (const lies of [
      () => writeFileSync(join(dir, 'evt_1.json'), fileOf().slice(0, -1)),
      () => (rmSync(join(dir, 'evt_1.json')), symlinkSync(join(parent, 'precious'), join(dir, 'evt_1.json'))),
    ]) {
      lies();
      await folder().deliver(event());
      expect(JSON.parse(readFileSync(join(dir, 'evt_1.json'), 'utf8'))).toEqual(JSON.parse(fileOf()));
      expect(lstatSync(join(dir, 'evt_1.json')).isFile()).toBe(true);
    }
    expect(readFileSync(join(parent, 'precious'), 'utf8')).toBe('untouched');
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
