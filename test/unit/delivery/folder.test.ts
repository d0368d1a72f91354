import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createEventSender } from '../../../src/delivery/index';
import { temporaryFolder } from '../../support/clean-up';

let parent: string;
let dir: string;

beforeEach(() => {
  parent = temporaryFolder();
  dir = join(parent, 'made', 'when', 'needed');
});

const line = { productId: 'p-1', quantity: 1, keys: [{ id: 'k.1', type: 'text', value: 'fake-key-1' }] };
const data = { referenceId: 'R', lines: [line] };
const EVENT = { id: 'evt_1', body: { type: 'purchase.delivered', timestamp: '2026-01-01T00:00:00.000Z', data } };
/** The content of the file for that event. */
const FILE = JSON.stringify({ id: EVENT.id, ...EVENT.body });

const folder = () => createEventSender({ kind: 'folder', dir });

describe('a delivery into a folder', () => {
  it('writes one file named after the event, readable only by its owner, and leaves no other file', async () => {
    expect(await folder().deliver(EVENT)).toBe(true);
    expect(readdirSync(dir)).toEqual(['evt_1.json']);
    expect(statSync(join(dir, 'evt_1.json')).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o077).toBe(0);
    expect(JSON.parse(readFileSync(join(dir, 'evt_1.json'), 'utf8'))).toEqual({ id: 'evt_1', ...EVENT.body });
  });

  it('that is repeated succeeds and yields one complete file, even with twenty at once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => folder().deliver(EVENT)));
    await folder().deliver(EVENT);
    const written = `${JSON.stringify(JSON.parse(FILE), undefined, 2)}\n`;
    expect(readFileSync(join(dir, 'evt_1.json'), 'utf8')).toBe(written);
    expect(readdirSync(dir)).toEqual(['evt_1.json']);
  });

  it('replaces an incomplete file of the same id, but never writes through a link of that name', async () => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(parent, 'precious'), 'untouched');
    for (const lies of [
      () => writeFileSync(join(dir, 'evt_1.json'), FILE.slice(0, -1)),
      () => (rmSync(join(dir, 'evt_1.json')), symlinkSync(join(parent, 'precious'), join(dir, 'evt_1.json'))),
    ]) {
      lies();
      await folder().deliver(EVENT);
      expect(JSON.parse(readFileSync(join(dir, 'evt_1.json'), 'utf8'))).toEqual(JSON.parse(FILE));
      expect(lstatSync(join(dir, 'evt_1.json')).isFile()).toBe(true);
    }
    expect(readFileSync(join(parent, 'precious'), 'utf8')).toBe('untouched');
  });

  it('removes the keys that a crashed attempt left behind for the same event', async () => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, '.evt_1.json.of-a-dead-worker.part'), '{"id":"evt_1"');
    writeFileSync(join(dir, '.evt_10.json.of-another-worker.part'), '{"id":"evt_10"');
    await folder().deliver(EVENT);
    expect(readdirSync(dir).toSorted()).toEqual(['.evt_10.json.of-another-worker.part', 'evt_1.json']);
  });

  /** Moves each file with such a name away as soon as it appears, and delivers this many events meanwhile. */
  async function deliverWhileTaking(isTaken: (name: string) => boolean, count: number) {
    mkdirSync(dir, { recursive: true });
    const taken = join(parent, 'taken');
    mkdirSync(taken);
    const consumer = watch(dir, (_, name) => {
      if (name !== null && isTaken(name) && existsSync(join(dir, name))) renameSync(join(dir, name), join(taken, name));
    });
    const ids = Array.from({ length: count }, (_, index) => `evt_${index}`);
    const outcomes = await Promise.allSettled(ids.map((id) => folder().deliver({ ...EVENT, id })));
    consumer.close();
    const isReported = (_: string, index: number) => outcomes[index]!.status === 'fulfilled';
    const isThere = (id: string) => [dir, taken].some((place) => existsSync(join(place, `${id}.json`)));
    return { lost: ids.filter(isReported).filter((id) => !isThere(id)), taken: readdirSync(taken) };
  }

  it('never reports keys as received when its draft was moved away before it became the file', async () => {
    const { lost, taken } = await deliverWhileTaking((name) => name.endsWith('.part'), 50);
    expect(taken).not.toEqual([]);
    expect(lost).toEqual([]);
  });

  it('hides its drafts, so that a consumer that moves `*` away gets no unfinished file', async () => {
    const { lost, taken } = await deliverWhileTaking((name) => !name.startsWith('.'), 50);
    expect(taken).not.toEqual([]);
    expect(taken.filter((name) => !name.endsWith('.json'))).toEqual([]);
    expect(lost).toEqual([]);
  });

  it('that cannot be written is a retryable error, not a crash', async () => {
    writeFileSync(join(parent, 'made'), 'a file where a folder should be');
    const message = expect.stringContaining('ENOTDIR') as string;
    await expect(folder().deliver(EVENT)).rejects.toMatchObject({ kind: 'storage', message });
  });

  it.each(['../evt_1', 'a/b', '', '.'])('never writes outside its folder for an id such as %j', async (id) => {
    await expect(folder().deliver({ ...EVENT, id })).rejects.toThrow(TypeError);
    expect(readdirSync(parent)).toEqual([]);
  });
});
