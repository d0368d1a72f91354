import * as fc from 'fast-check';
import { parseRetryAfter } from '../../../src/domain/retry-after';

const NOW = Date.parse('2026-01-02T03:04:05Z');

const parsed = (written: unknown, date?: unknown) => parseRetryAfter({ 'retry-after': written, date }, NOW);

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
  ])('%s is accepted as a delay', (written, ms) => {
    expect(parsed(written)).toBe(ms);
  });

  const numbers = ['-1', '1.5', '1e3', '0x10', '7 s', '7, 8'];
  const dates = ['Fri, 99 Jan 2026 03:04:35 GMT', '2026-01-02'];
  it.each([undefined, '', ' ', 'soon', ['7'], ...numbers, ...dates])('%j is ignored', (written) => {
    expect(parsed(written)).toBeUndefined();
  });

  it('is never negative and never more than an hour, whatever the header says', () => {
    fc.assert(
      fc.property(fc.string(), fc.date({ noInvalidDate: true }), (text, date) => {
        for (const written of [text, date.toUTCString(), String(date.getTime())]) {
          const ms = parsed(written);
          expect(ms === undefined || (ms >= 0 && ms <= 3_600_000)).toBe(true);
        }
      }),
    );
  });

  it("with a time in the past is ignored, because the partner's clock may be slow", () => {
    expect(parsed('Fri, 02 Jan 2026 03:04:04 GMT')).toBeUndefined();
  });

  it.each([
    ['Fri, 02 Jan 2026 08:04:05 GMT', 'Fri, 02 Jan 2026 08:04:35 GMT', 30_000],
    ['Thu, 01 Jan 2026 03:04:05 GMT', 'Thu, 01 Jan 2026 03:04:35 GMT', 30_000],
    ['Fri, 02 Jan 2026 08:04:05 GMT', 'Fri, 02 Jan 2026 08:04:04 GMT', undefined],
    ['Fri, 02 Jan 2026 08:04:05 GMT', '7', 7_000],
    ['order 5', 'Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
    ['Fri, 99 Jan 2026 08:04:05 GMT', 'Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
    [['Fri, 02 Jan 2026 08:04:05 GMT'], 'Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
  ])('is not lengthened by a wrong clock of the sender, whose Date is %j: %s', (date, written, ms) => {
    expect(parsed(written, date)).toBe(ms);
  });
});
