import { Client, Connection } from '@temporalio/client';
import { REFERENCE_ID, SEARCH_ATTRIBUTES } from '../../../src/contracts/search-attributes';
import {
  missingSearchAttributes,
  registerSearchAttributes,
  requireSearchAttributes,
  TemporalConfigError,
} from '../../../src/temporal/client';
import { rejectionOf } from '../../support/checks';
import { closeAtEnd } from '../../support/clean-up';
import { startDevServer } from '../../support/dev-server';
import { startGrpcServer } from '../../support/grpc-server';
import { starterProcess } from '../../support/processes';
import { sharedEnvironment } from '../../support/test-environment';

const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const ALL = SEARCH_ATTRIBUTES.map(({ name }) => name);

/** A server that returns this status for every call. */
async function answering(status: number): Promise<Connection> {
  const { port } = await startGrpcServer(() => ({ status }));
  const connection = Connection.lazy({ address: `127.0.0.1:${port}` });
  closeAtEnd(() => connection.close());
  return connection;
}

describe('a worker at its start', () => {
  const env = sharedEnvironment({ worker: false });

  it('names the variable of a namespace that does not exist', async () => {
    const failure = await rejectionOf(requireSearchAttributes(env.client.connection, 'mistyped'));
    expect(failure).toMatchObject({ exitCode: 78 });
    expect(failure?.message).toMatch(/^Temporal has no namespace mistyped\. TEMPORAL_NAMESPACE /);
  });

  it.each([PERMISSION_DENIED, UNIMPLEMENTED])(
    'finds the search attributes by a search when the server refuses to list them, like Temporal Cloud (status %i)',
    async (status) => {
      const { operatorService } = await answering(status);
      const connection = { operatorService, workflowService: env.client.workflowService };
      expect(await missingSearchAttributes(connection, 'default')).toEqual([]);
      expect(await missingSearchAttributes(connection, 'temporal-system')).toEqual(ALL);
      const failure = await rejectionOf(registerSearchAttributes(connection, 'temporal-system'));
      expect(failure).toMatchObject({ exitCode: 78 });
      for (const name of ALL) expect(failure?.message).toContain(`--search-attribute ${name}=Keyword`);
    },
  );

  it('reports a key that may not search as refused, and not as missing search attributes', async () => {
    const connection = await answering(PERMISSION_DENIED);
    expect(await rejectionOf(requireSearchAttributes(connection, 'default'))).toBeInstanceOf(TemporalConfigError);
  });
});

it('search attributes can be used as soon as they are registered: a purchase in that second is not refused', async () => {
  // A production server reads its namespaces again only every two seconds.
  const config = ['system.forceSearchAttributesCacheRefreshOnRead=false'];
  const { address } = await startDevServer({ setUp: false, config });
  const connection = await Connection.connect({ address });
  closeAtEnd(() => connection.close());
  const { code, stderr } = await starterProcess(['list'], { TEMPORAL_ADDRESS: address });
  expect({ code, advised: stderr.includes('npx fulfilment setup') }).toEqual({ code: 1, advised: true });
  expect(await registerSearchAttributes(connection, 'default')).toEqual(ALL);

  const client = new Client({ connection });
  const typedSearchAttributes = [{ key: REFERENCE_ID, value: 'a sale' }];
  const options = { workflowId: 'a-sale', taskQueue: 'nobody', typedSearchAttributes };
  await expect(client.workflow.start('purchaseWorkflow', options)).resolves.toBeDefined();
});
