import { PartnerError, statusError } from '../../../src/partner/errors';
import { limitPauses, withRetry } from '../../../src/partner/retry';
import { orderPauses, pagePauses, readRetry, reconciliationOptions } from '../../../src/workflows/policies';

/** The minimum for each step. */
const READ_AT_ONCE = 4;
const retry = { ...readRetry, mayPause: limitPauses(orderPauses), signal: new AbortController().signal };

describe('a read that fails', () => {
  it('is tried again if it may succeed later', async () => {
    const read = jest.fn().mockResolvedValue('read');
    for (const kind of ['unreachable', 'timeout'] as const) read.mockRejectedValueOnce(new PartnerError(kind, 'x', {}));
    expect(await withRetry(retry, read)).toBe('read');
  });

  it.each([
    ['a permanent response', statusError({ operation: 'getOrder', httpStatus: 404 })],
    ['an error that is not a PartnerError', new TypeError('x')],
  ])('is not tried again after %s', async (_, error) => {
    const read = jest.fn().mockRejectedValue(error);
    await expect(withRetry(retry, read)).rejects.toBe(error);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('with a Retry-After of an hour is tried again for a page but not for a single order', async () => {
    const anHour = statusError({ operation: 'getOrder', httpStatus: 503, retryAfterMs: 3_600_000 });
    const cancelled = new Error('cancelled');
    /** Aborts as soon as the read has failed, which ends the pause if there is one. */
    function failOnce(pauses: typeof orderPauses) {
      const abort = new AbortController();
      return withRetry({ ...readRetry, mayPause: limitPauses(pauses), signal: abort.signal }, async () => {
        setImmediate(() => abort.abort(cancelled));
        throw anHour;
      });
    }
    await expect(failOnce(orderPauses)).rejects.toBe(anHour);
    await expect(failOnce(pagePauses)).rejects.toBe(cancelled);
  });

  it('gets the pauses that the partner asks for until their sum would be too long', () => {
    const mayPause = limitPauses({ maxMs: 30, totalMs: 70 });
    expect([31, 30, 30, 30, 10, 1].map(mayPause)).toEqual([false, true, true, false, true, false]);
  });

  it('leaves a reconciliation enough time, however long the partner makes it wait', () => {
    const steps = ['rows that are read again', 'followed orders', 'findings'];
    const pausesMs = pagePauses.totalMs + (steps.length * orderPauses.totalMs) / READ_AT_ONCE;
    expect(pausesMs).toBeLessThan(Number(reconciliationOptions.startToCloseTimeout));
  });

  it('throws the error of the last attempt', async () => {
    let httpStatus = 500;
    const read = async () => {
      throw statusError({ operation: 'getOrder', httpStatus: ++httpStatus });
    };
    await expect(withRetry(retry, read)).rejects.toMatchObject({ httpStatus: 504 });
  });
});
