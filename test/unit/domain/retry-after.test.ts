import * as fc from 'fast-check';
import { parseRetryAfter } from '../../../src/domain/retry-after';

const NOW = Date.parse('2026-01-02T03:04:05Z');

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['7', 7000],
    ['007', 7000],
    ['3600', 3_600_000],
    ['3601', 3_600_000],
    ['9'.repeat(400), 3_600_000],
    ['Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
    ['Friday, 02-Jan-26 03:04:35 GMT', 30_000],
    ['Fri, 02 Jan 2026 03:04:05 GMT', 0],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 3_600_000],
  ])('%s is a pause', (written, ms) => {
    expect(parseRetryAfter(written, NOW)).toBe(ms);
  });

  const numbers = ['-1', '1.5', '1e3', '0x10', '7 s', '7, 8'];
  const dates = ['Fri, 99 Jan 2026 03:04:35 GMT', '2026-01-02'];
  it.each([undefined, '', ' ', 'soon', ['7'], ...numbers, ...dates])('%j is garbage, and no pause', (written) => {
    expect(parseRetryAfter(written, NOW)).toBeUndefined();
  });

  it('never asks for less than nothing or more than an hour, whatever is written', () => {
    fc.assert(
      fc.property(fc.string(), fc.date({ noInvalidDate: true }), (text, date) => {
        for (const written of [text, date.toUTCString(), String(date.getTime())]) {
          const ms = parseRetryAfter(written, NOW);
          expect(ms === undefined || (ms >= 0 && ms <= 3_600_000)).toBe(true);
        }
      }),
    );
  });

  it('that names a moment gone by is no pause: a clock that is slow over there must not make us hasty', () => {
    expect(parseRetryAfter('Fri, 02 Jan 2026 03:04:04 GMT', NOW)).toBeUndefined();
  });
});
