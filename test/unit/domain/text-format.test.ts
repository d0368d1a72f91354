import { escapeMarkdown, summaryOf, toSafeJson, toSingleLine, withoutErrorCode } from '../../../src/domain/text-format';

describe('text from the partner or a checkout, in the markdown of the Temporal UI', () => {
  it.each([
    ['a heading on a line of its own', 'ok\n# You won', 'ok \\# You won'],
    ['a link', '[pay here](https://evil.example)', '\\[pay here\\](https\\://evil.example)'],
    ['an address that becomes a link by itself', 'www.a.example or b@a', 'www\\.a.example or b\\@a'],
    ['an image', '![x](y)', '\\!\\[x\\](y)'],
    ['HTML', '<img src=x onerror=y>&lt;', '\\<img src=x onerror=y\\>\\&lt;'],
    ['the end of a code block', '```\nrm -rf /', '\\`\\`\\` rm -rf /'],
    ['emphasis, a table, strikethrough', '*a* _b_ |c| ~d~', '\\*a\\* \\_b\\_ \\|c\\| \\~d\\~'],
    ['a backslash that would undo an escape', '\\*', '\\\\\\*'],
    ['a change of text direction', 'abc\u202Egnp.exe', 'abc gnp.exe'],
    ['other line separators and control characters', 'a\u2028b\u0085c\u001B[31m', 'a b c \\[31m'],
  ])('is shown as plain text: %s', (_, text, escaped) => {
    expect(escapeMarkdown(text)).toBe(escaped);
  });

  it('keeps the underscores inside an id', () => {
    expect(escapeMarkdown('steam_50_eu: PARTIAL_COMPLETED')).toBe('steam_50_eu: PARTIAL_COMPLETED');
  });

  it('escapes terminal control sequences in JSON, which still parses to the original value', () => {
    const document = { text: 'a\u001B[2J\u009B1A\n\u202E\u{E0001}\u200D\uD83D', list: [1] };
    expect(toSafeJson(document)).not.toMatch(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    expect(JSON.parse(toSafeJson(document))).toEqual(document);
  });

  it('is shortened when it is long, so that it cannot fill the page', () => {
    expect(summaryOf('2 × steam-50')).toBe('2 × steam-50');
    expect(escapeMarkdown('x'.repeat(10_000))).toHaveLength(600);
    expect(toSingleLine('x'.repeat(11), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(toSingleLine(`${'x'.repeat(8)}🎮yz`, 10)).toBe(`${'x'.repeat(8)}…`);
  });

  it('contains no half surrogate pairs, which cannot be encoded, but keeps the joiners of emoji and scripts', () => {
    expect(toSingleLine('a\uD83Db\uDFAE \u{1F3AE}', 20)).toBe('a b  \u{1F3AE}');
    expect(toSingleLine('\u{1F469}\u200D\u{1F4BB} می\u200Cخواهم', 20)).toBe('\u{1F469}\u200D\u{1F4BB} می\u200Cخواهم');
  });

  it.each(['a', 'é', '€', '🎮', '"', '\\', '\n'])(
    'never makes a summary longer than the server accepts, even if it consists of %j',
    (character) => {
      const summary = summaryOf(`100 × ${character.repeat(1_000)}`);
      expect(Buffer.byteLength(JSON.stringify(summary))).toBeLessThanOrEqual(202);
      // Half a surrogate pair would not survive the encoding.
      expect(Buffer.from(summary).toString()).toBe(summary);
    },
  );
});

it.each([
  ['no connection to the partner (ECONNREFUSED)', 'no connection to the partner'],
  ['the partner returned 422 (insufficient_stock)', 'the partner returned 422 (insufficient_stock)'],
])('removes an error code of Node, but nothing of the partner: %s', (message, shown) => {
  expect(withoutErrorCode(message)).toBe(shown);
});
