/** A value that must not appear anywhere. Messages use its name, so a failing test does not leak it again. */
export interface Canary {
  name: string;
  value: string;
}

/** A text that people or programs can read, with the place where it was read. */
export interface Evidence {
  place: string;
  text: string;
}

export interface Finding {
  canary: string;
  form: string;
  place: string;
}

/** V8 quotes ten characters of a text that `JSON.parse` rejects. */
const FRAGMENT = 8;

/**
 * Finds canaries, or their first or last characters, in every form in which a program may write them. Digits that are
 * wrapped or spaced (MIME, `<Buffer 41 42>`, pretty JSON) are found too.
 */
export function findLeaks(canaries: readonly Canary[], evidence: readonly Evidence[]): Finding[] {
  const needles = canaries.flatMap(({ name, value }) =>
    fragmentsOf(value)
      .flatMap(formsOf)
      .map((form) => ({ ...form, canary: name })),
  );
  const exact = byBeginning(needles.filter(({ caseless: anyCase }) => !anyCase));
  const folded = byBeginning(needles.filter(({ caseless: anyCase }) => anyCase));
  return evidence.flatMap(({ place, text }) => {
    const found = [text, dense(text)].flatMap((haystack) => [
      ...occurring(exact, haystack),
      ...occurring(folded, haystack.toLowerCase()),
    ]);
    const unique = new Map(found.map(({ canary, form }) => [`${canary} ${form}`, { canary, form, place }]));
    return [...unique.values()];
  });
}

/** The findings as lines for the message of a test. */
export function inWords(findings: readonly Finding[]): string[] {
  return [...new Set(findings.map(({ canary, form, place }) => `${canary} as ${form} in ${place}`))].toSorted();
}

/**
 * Both ends of a text, because messages cut it. Of a data URL only slices of its content, because all images begin
 * alike.
 */
export function fragmentsOf(value: string): string[] {
  if (value.length < FRAGMENT) throw new Error('a canary this short would be found by chance');
  const content = /^data:[^,]*,(.*)$/s.exec(value)?.[1];
  if (content === undefined) return [...new Set([value.slice(0, FRAGMENT), value.slice(-FRAGMENT)])];
  return [0.25, 0.5, 0.75].map((part) => content.slice(Math.floor(content.length * part)).slice(0, 2 * FRAGMENT));
}

interface Form {
  form: string;
  needle: string;
  caseless: boolean;
}

function formsOf(fragment: string): Form[] {
  const escaped = JSON.stringify(fragment).slice(1, -1);
  const forms = [
    caseless('raw', fragment),
    caseless('JSON', escaped),
    caseless('JSON in JSON', JSON.stringify(escaped).slice(1, -1)),
    caseless('URL-encoded', encodeURIComponent(fragment)),
    ...encodingsOf(fragment),
    // A payload of Temporal is the base64 of JSON.
    ...encodingsOf(escaped),
  ];
  return forms.filter(({ needle }, at) => forms.findIndex((other) => other.needle === needle) === at);
}

function encodingsOf(text: string): Form[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  return [
    caseless('hex', hex),
    caseless('URL-encoded throughout', hex.replace(/../g, '%$&')),
    caseless('bytes', [...bytes].join(',')),
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
  ];
}

function caseless(form: string, needle: string): Form {
  return { form, needle: needle.toLowerCase(), caseless: true };
}

/** The known part of the base64 of a text that begins `offset` bytes after a multiple of three. */
function base64At(bytes: Buffer, offset: number): Form[] {
  const written = Buffer.concat([Buffer.alloc(offset), bytes]);
  const firstCertain = Math.ceil((offset * 8) / 6);
  const lastCertain = Math.floor((written.length * 8) / 6);
  const needleIn = (encoding: 'base64' | 'base64url') => written.toString(encoding).slice(firstCertain, lastCertain);
  return (['base64', 'base64url'] as const).map((encoding) => ({
    form: `${encoding} at ${offset}`,
    needle: needleIn(encoding),
    caseless: false,
  }));
}

/** The text without characters that may stand between digits. */
function dense(text: string): string {
  return text.replace(/(\\r|\\n|\s)+/g, '');
}

type Needle = Form & { canary: string };

/** The needles by their beginnings, so one pass finds thousands of them in megabytes. */
function byBeginning(needles: readonly Needle[]): Map<string, Needle[]> {
  const index = new Map<string, Needle[]>();
  for (const needle of needles) {
    const start = needle.needle.slice(0, FRAGMENT);
    index.set(start, [...(index.get(start) ?? []), needle]);
  }
  return index;
}

function occurring(index: Map<string, Needle[]>, haystack: string): Needle[] {
  const found = new Set<Needle>();
  for (let at = 0; at + FRAGMENT <= haystack.length; at++) {
    for (const needle of index.get(haystack.slice(at, at + FRAGMENT)) ?? []) {
      if (haystack.startsWith(needle.needle, at)) found.add(needle);
    }
  }
  return [...found];
}
