import { escapeMarkdown, inOneLine, jsonOf, summaryOf } from '../../../src/domain/texts';

describe('a text of the partner or a checkout in the markdown of the Temporal UI', () => {
  it.each([
    ['a heading on a line of its own', 'ok\n# You won', 'ok \\# You won'],
    ['a link', '[pay here](https://evil.example)', '\\[pay here\\](https\\://evil.example)'],
    ['an address that becomes a link by itself', 'www.a.example or b@a', 'www\\.a.example or b\\@a'],
    ['an image', '![x](y)', '\\!\\[x\\](y)'],
    ['HTML', '<img src=x onerror=y>&lt;', '\\<img src=x onerror=y\\>\\&lt;'],
    ['a code block that it ends', '```\nrm -rf /', '\\`\\`\\` rm -rf /'],
    ['emphasis, a table, a strike', '*a* _b_ |c| ~d~', '\\*a\\* \\_b\\_ \\|c\\| \\~d\\~'],
    ['a backslash that would undo an escape', '\\*', '\\\\\\*'],
    ['a change of the direction of writing', 'abc\u202Egnp.exe', 'abc gnp.exe'],
    ['what ends a line elsewhere', 'a\u2028b\u0085c\u001B[31m', 'a b c \\[31m'],
  ])('is text and nothing else: %s', (_, text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped);
  });

  it('keeps the underscores inside an id as they are', () => {
    expect(escapeMarkdown('steam_50_eu: PARTIAL_COMPLETED')).toBe('steam_50_eu: PARTIAL_COMPLETED');
  });

  it('shows nothing as it is in JSON that a terminal would take for a command, and parses to what it was', () => {
    const document = { text: 'a\u001B[2J\u009B1A\n\u202E\u{E0001}\u200D\uD83D', list: [1] };
    expect(jsonOf(document)).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    expect(JSON.parse(jsonOf(document))).toEqual(document);
  });

  it('is cut where it is long, so that it fills no page', () => {
    expect(summaryOf('2 × steam-50')).toBe('2 × steam-50');
    expect(escapeMarkdown('x'.repeat(10_000))).toHaveLength(600);
    expect(inOneLine('x'.repeat(11), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(inOneLine(`${'x'.repeat(8)}🎮yz`, 10)).toBe(`${'x'.repeat(8)}…`);
  });

  it('is well-formed: half a surrogate pair could not be encoded, and the joiners of emoji and scripts may stay', () => {
    expect(inOneLine('a\uD83Db\uDFAE \u{1F3AE}', 20)).toBe('a b  \u{1F3AE}');
    expect(inOneLine('\u{1F469}\u200D\u{1F4BB} می\u200Cخواهم', 20)).toBe('\u{1F469}\u200D\u{1F4BB} می\u200Cخواهم');
  });

  it.each(['a', 'é', '€', '🎮', '"', '\\', '\n'])(
    'is never more of a summary than the server takes, made of %j: a start with a longer one is refused',
    (character) => {
      const summary = summaryOf(`100 × ${character.repeat(1_000)}`);
      expect(Buffer.byteLength(JSON.stringify(summary))).toBeLessThanOrEqual(202);
      // Half of a pair of surrogates would not come through.
      expect(Buffer.from(summary).toString()).toBe(summary);
    },
  );
});
