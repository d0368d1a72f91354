import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import { PARTNER_ORDER_ID, REFERENCE_ID } from '../../../src/contracts/search-attributes';
import { createPurchaseReader } from '../../../src/temporal/client';
import { startGrpcServer } from '../../support/grpc-server';
import { sharedEnvironment } from '../../support/test-environment';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

describe('who else has an order', () => {
  const env = sharedEnvironment({ worker: false });
  /** A client of the same server that counts its queries. */
  let client: Client;
  let queries: number;
  let onQuery: () => void;

  beforeAll(async () => {
    const connection = await Connection.connect({
      address: env.address,
      interceptors: [
        (options, next) => {
          if (options.method_definition.path.endsWith('/ListWorkflowExecutions')) {
            queries += 1;
            onQuery();
          }
          return next(options) as ReturnType<Interceptor>;
        },
      ],
    });
    client = new Client({ connection });
  });
  beforeEach(() => {
    queries = 0;
    onQuery = () => undefined;
  });
  afterAll(() => client.connection.close());

  /** A purchase that lists show with this order. It does nothing, because no worker runs. */
  async function listed(orderId: string): Promise<string> {
    const referenceId = env.reference();
    await env.startRaw(referenceId, {
      typedSearchAttributes: [
        { key: REFERENCE_ID, value: referenceId },
        { key: PARTNER_ORDER_ID, value: orderId },
      ],
    });
    await env.untilListed(`${PARTNER_ORDER_ID.name} = '${orderId}' AND ${REFERENCE_ID.name} = '${referenceId}'`, 1);
    return referenceId;
  }

  it('also shows whether another execution has the id of a purchase, once it shows the purchase itself', async () => {
    const { hasOtherExecution } = createPurchaseReader(client);
    const referenceId = await listed(randomUUID());
    const { workflowId, runId } = await env.handleOf(referenceId).describe();

    const asked = [hasOtherExecution(workflowId, runId), hasOtherExecution(`${workflowId}0`, runId)];
    expect(await Promise.all(asked)).toEqual([false, undefined]);
    expect(queries).toBe(1);
    expect(await hasOtherExecution(workflowId, randomUUID())).toBe(true);
  });

  it('is one query for all who ask at the same time, and each learns of its own order', async () => {
    const orders = Array.from({ length: 60 }, () => randomUUID());
    const owner = await listed(orders[3]!);
    const { othersWithOrder } = createPurchaseReader(client);

    const others = await Promise.all(orders.map((orderId) => othersWithOrder(orderId, 'R-1')));
    expect(others).toEqual(orders.map((_, index) => (index === 3 ? [owner] : [])));
    expect(queries).toBe(2);
    expect(await othersWithOrder(orders[3]!, owner)).toEqual([]);
  });

  it('is asked five times a second at the most: who asks soon after a query waits for the next', async () => {
    const { othersWithOrder } = createPurchaseReader(client);
    const sent = new Promise<void>((resolve) => (onQuery = resolve));
    const first = othersWithOrder(randomUUID(), 'R-1');
    await sent;

    const second = othersWithOrder(randomUUID(), 'R-2');
    await setTimeout(100);
    await Promise.all([first, second, othersWithOrder(randomUUID(), 'R-3')]);
    expect(queries).toBe(2);
  });

  it('is known of what this process has seen, before any list shows it, and until the purchase has another order', async () => {
    const { noteOwner, othersWithOrder } = createPurchaseReader(client);
    noteOwner('o-1', 'R-1');
    expect(await othersWithOrder('o-1', 'R-2')).toEqual(['R-1']);
    expect(await othersWithOrder('o-1', 'R-1')).toEqual([]);

    noteOwner('o-2', 'R-1');
    expect(await othersWithOrder('o-1', 'R-2')).toEqual([]);
  });

  it('is unknown if the lists never answer, and the purchase goes on', async () => {
    const { port } = await startGrpcServer(() => undefined);
    const connection = Connection.lazy({ address: `127.0.0.1:${port}`, interceptors: [] });
    const { noteOwner, othersWithOrder } = createPurchaseReader(new Client({ connection }));
    noteOwner('o-1', 'R-1');

    expect(await othersWithOrder('o-2', 'R-2')).toEqual([]);
    expect(await othersWithOrder('o-1', 'R-2')).toEqual(['R-1']);
    await connection.close();
  }, 20_000);
});
