import { Client, Connection, ServiceError } from '@temporalio/client';
import {
  createStarter,
  isRetryable,
  NoResponseError,
  PurchaseNotEndedError,
  type Starter,
} from '../../../src/starter/index';
import { rejectionOf } from '../../support/checks';
import { closeAtEnd } from '../../support/clean-up';
import { freePort } from '../../support/free-port';
import { startGrpcServer } from '../../support/grpc-server';

describe('a Temporal server that never responds', () => {
  it.each<[keyof Starter, (starter: Starter) => Promise<unknown>]>([
    ['purchase', (starter) => starter.purchase({ referenceId: 'SALE-1', items: [{ productId: 'p-1', quantity: 1 }] })],
    ['status', (starter) => starter.status('SALE-1')],
    ['resolve', (starter) => starter.resolve('SALE-1', { decision: 'abandon', holdId: 'run:1' })],
    ['redeliver', (starter) => starter.redeliver('SALE-1')],
    ['list', (starter) => starter.list()],
    ['cancel', (starter) => starter.cancel('SALE-1')],
  ])('makes %s throw NoResponseError, which is worth a retry', async (_, call) => {
    const { port } = await startGrpcServer(() => undefined);
    const connection = Connection.lazy({ address: `127.0.0.1:${port}` });
    closeAtEnd(() => connection.close());
    const starter = createStarter(new Client({ connection }), { timeoutMs: 200 });
    const error = await rejectionOf(call(starter));
    expect(error).toBeInstanceOf(NoResponseError);
    expect(error?.message).toMatch(
      /^Temporal \(namespace default at 127\.0\.0\.1:\d+\) did not respond in time\. [^:]+\.$/,
    );
    expect(isRetryable(error)).toBe(true);
  });

  it('makes resolve without a holdId throw an error that is not worth a retry, because another hold may be open by then', async () => {
    const { port } = await startGrpcServer(() => undefined);
    const connection = Connection.lazy({ address: `127.0.0.1:${port}` });
    closeAtEnd(() => connection.close());
    const starter = createStarter(new Client({ connection }), { timeoutMs: 200 });
    const error = await rejectionOf(starter.resolve('SALE-1', { decision: 'replace' }));
    expect(error?.message).toContain('read the status before you decide again');
    expect(isRetryable(error)).toBe(false);
  });
});

it.each([
  [10, PurchaseNotEndedError],
  [60_000, ServiceError],
])('a call that the server cancels counts as timed out only if its %s ms are over', async (timeoutMs, expected) => {
  const CANCELLED = 1;
  const { port } = await startGrpcServer((method) => ({
    status: method.endsWith('WorkflowExecution') ? CANCELLED : 0,
  }));
  const connection = Connection.lazy({ address: `127.0.0.1:${port}` });
  closeAtEnd(() => connection.close());
  const starter = createStarter(new Client({ connection }));
  await connection.ensureConnected();
  expect(await rejectionOf(starter.result('SALE-1', { timeoutMs }))).toBeInstanceOf(expected);
});

describe('a Temporal server that cannot be reached', () => {
  const messageFor = async (address: string, tls?: true) => {
    const connection = Connection.lazy({ address, tls });
    closeAtEnd(() => connection.close());
    const error = await rejectionOf(createStarter(new Client({ connection }), { timeoutMs: 300 }).cancel('SALE-1'));
    expect(error).toBeInstanceOf(NoResponseError);
    return error?.message;
  };

  it('ends a limited wait for a result, with the cause', async () => {
    const connection = Connection.lazy({ address: `127.0.0.1:${await freePort()}` });
    closeAtEnd(() => connection.close());
    const error = await rejectionOf(createStarter(new Client({ connection })).result('SALE-1', { timeoutMs: 300 }));
    expect(error).toBeInstanceOf(NoResponseError);
    expect(error?.message).toContain('did not respond in time: connection refused.');
  });

  it('is reported with its address, the cause in words and advice', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    expect(await messageFor(address)).toBe(
      `Temporal (namespace default at ${address}) did not respond in time: connection refused. ` +
        'Is a server running at this address? The request may still take effect; repeating it is safe.',
    );
  });

  it('is not reported as absent if it merely does not accept TLS', async () => {
    const { port } = await startGrpcServer(() => undefined);
    expect(await messageFor(`localhost:${port}`, true)).toContain(
      'in time: it accepts connections, but does not respond as Temporal does',
    );
  });
});
