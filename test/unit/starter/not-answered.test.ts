import { Client, Connection } from '@temporalio/client';
import { createStarter, isRetryable, NoResponseError, type Starter } from '../../../src/starter/index';
import { rejectionOf } from '../../support/checks';
import { closeAtEnd } from '../../support/clean-up';
import { startGrpcServer } from '../../support/grpc-server';

describe('a Temporal server that never answers', () => {
  it.each<[keyof Starter, (starter: Starter) => Promise<unknown>]>([
    ['purchase', (starter) => starter.purchase({ referenceId: 'SALE-1', items: [{ productId: 'p-1', quantity: 1 }] })],
    ['status', (starter) => starter.status('SALE-1')],
    ['resolve', (starter) => starter.resolve('SALE-1', { decision: 'abandon' })],
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
    expect(isRetryable(error)).toBe(true);
  });
});
