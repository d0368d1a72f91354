import { isPartnerError, statusError, timedOut, unreachable } from '../../../src/partner/errors';
import { withRetry } from '../../../src/partner/retry';
import { readRetry } from '../../../src/workflows/policies';

const retry = { ...readRetry, signal: new AbortController().signal };

describe('a read that fails', () => {
  it('is tried again where it may succeed later', async () => {
    const outcomes = [unreachable({ operation: 'getOrder' }), timedOut({ operation: 'getOrder', sent: true })];
    const read = async () => {
      const error = outcomes.shift();
      if (error) throw error;
      return 'read';
    };
    expect(await withRetry(retry, read)).toBe('read');
  });

  it.each([
    ['an answer that will stay the same', statusError({ operation: 'getOrder', httpStatus: 404 })],
    ['an error that is not of the partner', new TypeError('x')],
  ])('is not tried again after %s', async (_, error) => {
    let reads = 0;
    const read = async () => {
      reads += 1;
      throw error;
    };
    await expect(withRetry(retry, read)).rejects.toBe(error);
    expect(reads).toBe(1);
  });

  it('ends its pause when it is aborted, with the reason of that', async () => {
    const abort = new AbortController();
    const reason = new Error('cancelled');
    const read = async () => {
      setImmediate(() => abort.abort(reason));
      throw statusError({ operation: 'getOrder', httpStatus: 503, retryAfterMs: 3_600_000 });
    };
    await expect(withRetry({ ...readRetry, signal: abort.signal }, read)).rejects.toBe(reason);
  });

  it('throws what the last try threw', async () => {
    let reads = 0;
    const read = async () => {
      reads += 1;
      throw statusError({ operation: 'getOrder', httpStatus: 500 + reads });
    };
    const error: unknown = await withRetry(retry, read).catch((thrown: unknown) => thrown);
    expect(isPartnerError(error) && error.httpStatus).toBe(504);
  });
});
