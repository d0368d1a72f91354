import { inspect } from 'node:util';
import { type Canary, findLeaks, inWords } from './support/leak-search';
import { SECRETS } from './support/hostile-environment';
import { textOf } from './support/temporal-evidence';

const KEY = 'Q7"X2\\9é-MN4RT-W8KZB';
const canary: Canary = { name: 'the key', value: KEY };
const bytes = Buffer.from(KEY);

const WRITTEN: [how: string, text: string][] = [
  ['as it is', KEY],
  ['in the other case', KEY.toLowerCase()],
  ['in JSON', JSON.stringify({ key: KEY })],
  ['in JSON in JSON', JSON.stringify({ body: JSON.stringify({ key: KEY }) })],
  ['in JSON in JSON in a log', JSON.stringify({ text: JSON.stringify({ body: JSON.stringify([KEY]) }) })],
  ['in a URL', `http://a.example/?q=${encodeURIComponent(KEY)}`],
  ['in a form', new URLSearchParams({ q: KEY }).toString()],
  ['in a URL, lower case', encodeURIComponent(KEY).toLowerCase()],
  ['in a URL, every byte of it', bytes.toString('hex').replace(/../g, '%$&')],
  ['in hex', bytes.toString('hex')],
  ['in upper hex', bytes.toString('hex').toUpperCase()],
  ['as a Buffer in a log', inspect(bytes)],
  ['as a Buffer in JSON', JSON.stringify(bytes, undefined, 2)],
  ['as a Uint8Array in a log', inspect(new Uint8Array(bytes), { maxArrayLength: null })],
  ['quoted by JSON.parse', messageOf(() => JSON.parse(`{"key":${KEY}, "and": "more"}`))],
  ['with an end that was cut off', KEY.slice(0, 14)],
  ['with a beginning that was cut off', KEY.slice(-14)],
  // With text around it, so the base64 begins at each offset modulo three.
  ...[0, 1, 2].flatMap((offset): [string, string][] => {
    const base64 = Buffer.from('#'.repeat(offset) + KEY + '#'.repeat(2 - offset)).toString('base64');
    const payload = JSON.stringify(['#'.repeat(offset), KEY]);
    return [
      [`in base64 at ${offset}`, base64],
      [`in base64 at ${offset}, without padding`, base64.replace(/=+$/, '')],
      [`in base64url at ${offset}`, Buffer.from(base64, 'base64').toString('base64url')],
      [`in base64 at ${offset}, in lines`, base64.replace(/.{10}/g, '$&\r\n')],
      [`in base64 at ${offset}, in a JSON payload`, Buffer.from(payload).toString('base64')],
    ];
  }),
];

function messageOf(work: () => unknown): string {
  try {
    work();
    return '';
  } catch (error) {
    return String(error);
  }
}

describe('the search for leaks', () => {
  it.each(WRITTEN)('finds a key %s', (_how, text) => {
    expect(findLeaks([canary], [{ place: 'here', text: `before ${text} after` }])).not.toEqual([]);
  });

  it('finds nothing in clean text, and reports a leak without repeating the secret', () => {
    const other = { place: 'elsewhere', text: 'Q7X29-MN4RT-W8KZC' };
    const found = findLeaks([canary], [other, { place: 'here', text: KEY }]);
    expect(inWords(found)).toEqual(['the key as raw in here']);
  });

  it('finds an image by any part of its content, but not by the beginning that all images share', () => {
    const content = Buffer.from(Array.from({ length: 900 }, (_, index) => (index * 131 + 7) % 251)).toString('base64');
    const image = { name: 'the image', value: `data:image/png;base64,${content}` };
    expect(findLeaks([image], [{ place: 'here', text: content.slice(500, 700) }])).not.toEqual([]);
    expect(findLeaks([image], [{ place: 'here', text: `data:image/png;base64,${content.slice(0, 60)}` }])).toEqual([]);
  });

  it('reads every text that Temporal holds: names, bytes, JSON in bytes, and causes of failures', () => {
    const failure = new Error('failed', { cause: new Error('because', { cause: `${KEY} 1` }) });
    const payload = Buffer.from(JSON.stringify({ data: `${KEY} 2` }));
    const parts = [{ deep: [failure] }, { payloads: [{ data: new Uint8Array(payload) }] }, { [`${KEY} 3`]: 1 }];
    for (const part of [...parts, new Map([['name', { value: `${KEY} 4` }]])]) {
      expect(findLeaks([canary], [{ place: 'here', text: textOf(part) }])).not.toEqual([]);
    }
  });

  it('finds each secret that the other tests plant', () => {
    for (const value of Object.values(SECRETS).flat()) {
      expect(findLeaks([{ name: 'it', value }], [{ place: 'here', text: inspect({ value }) }])).not.toEqual([]);
    }
  });
});
