import { TestWorkflowEnvironment } from '@temporalio/testing';
import { SEARCH_ATTRIBUTES } from '../../src/contracts/search-attributes';
import { closeAtEnd } from './clean-up';
import { startTestEnvironment, type TestEnvironment, type TestEnvironmentOptions } from './test-environment';

const KEYWORD = 2;
/** The SDK gives a server 5 s to start listening. On an overloaded machine one of many takes longer. */
const STARTS = 12;

/** A Temporal server with our search attributes, whose clock jumps to the next timer while nothing runs. */
async function startTimeSkippingServer(): Promise<TestWorkflowEnvironment> {
  const path = process.env.TEMPORAL_TEST_SERVER;
  if (!path) throw new Error('TEMPORAL_TEST_SERVER is not set: run the suite with npm test');
  const server = await startListening(path);
  closeAtEnd(() => server.teardown());
  await server.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTES.map(({ name }) => [name, KEYWORD])),
  });
  return server;
}

async function startListening(path: string): Promise<TestWorkflowEnvironment> {
  for (let tries = STARTS; ; tries--) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      if (tries === 1 || !String(error).includes('did not start within')) throw error;
    }
  }
}

/** One environment on such a server, with its client, for all tests of a `describe`. Started before the first test. */
export function sharedTimeSkippingEnvironment(options: Omit<TestEnvironmentOptions, 'address' | 'client'> = {}): {
  env: TestEnvironment;
  server: Pick<TestWorkflowEnvironment, 'currentTimeMs' | 'sleep'>;
} {
  const env = {} as TestEnvironment;
  let server: TestWorkflowEnvironment;
  beforeAll(async () => {
    server = await startTimeSkippingServer();
    const { address, client } = server;
    Object.assign(env, await startTestEnvironment({ ...options, address, client }));
  });
  return { env, server: { currentTimeMs: () => server.currentTimeMs(), sleep: (duration) => server.sleep(duration) } };
}
