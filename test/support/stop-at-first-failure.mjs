import { TestEnvironment } from 'jest-environment-node';

/** A Jest environment for runs that only need to know whether any test fails: after a failure, the file's rest is skipped. */
export default class StopAtFirstFailure extends TestEnvironment {
  hasFailed = false;

  /** @param {{ name: string, test?: { errors: unknown[], mode?: string | null } }} event */
  handleTestEvent = ({ name, test }) => {
    if (name === 'test_done' && test?.errors.length) this.hasFailed = true;
    if (name === 'test_start' && test && this.hasFailed) test.mode = 'skip';
  };
}
