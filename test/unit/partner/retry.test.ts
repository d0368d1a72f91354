import { PartnerError, statusError } from '../../../src/partner/errors';
import { limitDelays, withRetry } from '../../../src/partner/retry';
import { orderDelays, pageDelays, readRetry, reconciliationOptions } from '../../../src/workflows/policies';

/** The minimum for each step. */
const READ_AT_ONCE = 4;
const retry = { ...readRetry, mayWait: limitDelays(orderDelays), signal: new AbortController().signal };

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
    /** Aborts as soon as the read has failed, which ends the delay if there is one. */
    function failOnce(delays: typeof orderDelays) {
      const abort = new AbortController();
      return withRetry({ ...readRetry, mayWait: limitDelays(delays), signal: abort.signal }, async () => {
        setImmediate(() => abort.abort(cancelled));
        throw anHour;
      });
    }
    await expect(failOnce(orderDelays)).rejects.toBe(anHour);
    await expect(failOnce(pageDelays)).rejects.toBe(cancelled);
  });

  it('gets the delays that the partner asks for until their sum would be too long', () => {
    const mayWait = limitDelays({ maxMs: 30, totalMs: 70 });
    expect([31, 30, 30, 30, 10, 1].map(mayWait)).toEqual([false, true, true, false, true, false]);
  });

  it('leaves a reconciliation enough time, however long the partner makes it wait', () => {
    const steps = ['rows that are read again', 'followed orders', 'findings'];
    const pausesMs = pageDelays.totalMs + (steps.length * orderDelays.totalMs) / READ_AT_ONCE;
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
