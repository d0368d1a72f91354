import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import { PARTNER_ORDER_ID } from '../../../src/contracts/search-attributes';
import { createPurchaseReader } from '../../../src/temporal/client';
import { startGrpcServer } from '../../support/grpc-server';
import { sharedEnvironment } from '../../support/test-environment';
import { answerWorkflowTask, upsertSearchAttributes } from '../../support/workflow-task';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

describe('the query for other purchases with an order', () => {
  const env = sharedEnvironment({ worker: false });
  /** A client of the test server that counts its queries. */
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

  const untilListed = (orderId: string, count: number) =>
    env.untilListed(`${PARTNER_ORDER_ID.name} = '${orderId}'`, count);

  /** A purchase that has this order. It does nothing else, because no worker runs. */
  async function listed(orderId: string): Promise<string> {
    const referenceId = env.reference();
    const taskQueue = `queue of ${referenceId}`;
    await env.startRaw(referenceId, { taskQueue });
    await answerWorkflowTask(env.client, taskQueue, upsertSearchAttributes({ [PARTNER_ORDER_ID.name]: orderId }));
    await untilListed(orderId, 1);
    return referenceId;
  }

  it('reports another execution under the id of a purchase, but only once the list shows the purchase itself', async () => {
    const { hasOtherExecution } = createPurchaseReader(client);
    const referenceId = await listed(randomUUID());
    const { workflowId, runId } = await env.handleOf(referenceId).describe();

    const asked = [hasOtherExecution(workflowId, runId), hasOtherExecution(`${workflowId}0`, runId)];
    expect(await Promise.all(asked)).toEqual([false, undefined]);
    expect(queries).toBe(1);
    expect(await hasOtherExecution(workflowId, randomUUID())).toBe(true);
  });

  it('combines requests made at the same time into one query, and each gets the result for its own order', async () => {
    const orders = Array.from({ length: 60 }, () => randomUUID());
    const owner = await listed(orders[3]!);
    const { othersWithOrder } = createPurchaseReader(client);

    const others = await Promise.all(orders.map((orderId) => othersWithOrder(orderId, 'R-1')));
    expect(others).toEqual(orders.map((_, index) => (index === 3 ? [owner] : [])));
    expect(queries).toBe(2);
    expect(await othersWithOrder(orders[3]!, owner)).toEqual([]);
  });

  it('does not trust a search attribute that a client set when it started a workflow', async () => {
    const orderId = randomUUID();
    const owner = await listed(orderId);
    const typedSearchAttributes = [{ key: PARTNER_ORDER_ID, value: orderId }];
    await env.startRaw(env.reference(), { typedSearchAttributes });
    await untilListed(orderId, 2);

    expect(await createPurchaseReader(client).othersWithOrder(orderId, 'R-1')).toEqual([owner]);
  });

  it('finds the owner although many later workflows were started with its order, because it looks at the oldest first', async () => {
    const orderId = randomUUID();
    const owner = await listed(orderId);
    const typedSearchAttributes = [{ key: PARTNER_ORDER_ID, value: orderId }];
    await Promise.all(Array.from({ length: 12 }, () => env.startRaw(env.reference(), { typedSearchAttributes })));
    await untilListed(orderId, 13);

    expect(await createPurchaseReader(client).othersWithOrder(orderId, 'R-1')).toEqual([owner]);
  });

  it('runs at most five times a second, so a request soon after a query waits for the next one', async () => {
    const { othersWithOrder } = createPurchaseReader(client);
    const sent = new Promise<void>((resolve) => (onQuery = resolve));
    const first = othersWithOrder(randomUUID(), 'R-1');
    await sent;

    const second = othersWithOrder(randomUUID(), 'R-2');
    await setTimeout(100);
    await Promise.all([first, second, othersWithOrder(randomUUID(), 'R-3')]);
    expect(queries).toBe(2);
  });

  it('returns owners seen by this process before any list shows them, but not after a purchase has got another order', async () => {
    const { noteOwner, othersWithOrder } = createPurchaseReader(client);
    noteOwner('o-1', 'R-1');
    expect(await othersWithOrder('o-1', 'R-2')).toEqual(['R-1']);
    expect(await othersWithOrder('o-1', 'R-1')).toEqual([]);

    noteOwner('o-2', 'R-1');
    expect(await othersWithOrder('o-1', 'R-2')).toEqual([]);
  });

  it('does not block a purchase when the lists never respond, and returns only what this process knows', async () => {
    const { port } = await startGrpcServer(() => undefined);
    const connection = Connection.lazy({ address: `127.0.0.1:${port}`, interceptors: [] });
    const { noteOwner, othersWithOrder } = createPurchaseReader(new Client({ connection }));
    noteOwner('o-1', 'R-1');

    expect(await othersWithOrder('o-2', 'R-2')).toEqual([]);
    expect(await othersWithOrder('o-1', 'R-2')).toEqual(['R-1']);
    await connection.close();
  });
});
