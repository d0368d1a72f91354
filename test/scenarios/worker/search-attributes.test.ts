import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../../src/contracts/search-attributes';
import {
  missingSearchAttributes,
  registerSearchAttributes,
  requireSearchAttributes,
  TemporalRefusedError,
} from '../../../src/temporal/client';
import { rejectionOf } from '../../support/checks';
import { closeAtEnd } from '../../support/clean-up';
import { startGrpcServer } from '../../support/grpc-server';
import { sharedEnvironment } from '../../support/test-environment';

const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const ALL = SEARCH_ATTRIBUTES.map(({ name }) => name);

/** A server that has this for every call. */
async function answering(status: number): Promise<Connection> {
  const { port } = await startGrpcServer(() => ({ status }));
  const connection = Connection.lazy({ address: `127.0.0.1:${port}` });
  closeAtEnd(() => connection.close());
  return connection;
}

describe('where the server lists no search attributes, as Temporal Cloud may not', () => {
  const env = sharedEnvironment({ worker: false });

  it.each([PERMISSION_DENIED, UNIMPLEMENTED])(
    'a search shows which are there, so that a worker starts or says what is missing (status %i)',
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

  it('a key that may not search either is refused: that is not taken for missing search attributes', async () => {
    const connection = await answering(PERMISSION_DENIED);
    expect(await rejectionOf(requireSearchAttributes(connection, 'default'))).toBeInstanceOf(TemporalRefusedError);
  });
});
