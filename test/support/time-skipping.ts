import { TestWorkflowEnvironment } from '@temporalio/testing';
import { SEARCH_ATTRIBUTES } from '../../src/contracts/search-attributes';
import { closeAtEnd } from './clean-up';

const KEYWORD = 2;

/** A Temporal server whose clock jumps to the next timer while nothing runs. The search attributes are registered there. */
export async function startTimeSkippingServer(): Promise<TestWorkflowEnvironment> {
  const path = process.env.TEMPORAL_TEST_SERVER;
  if (!path) throw new Error('TEMPORAL_TEST_SERVER is not set: run the suite with npm test');
  const server = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path } },
  });
  closeAtEnd(() => server.teardown());
  await server.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTES.map(({ name }) => [name, KEYWORD])),
  });
  return server;
}
