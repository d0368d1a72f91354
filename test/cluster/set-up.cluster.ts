import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { closeAtEnd, temporaryFolder } from '../support/clean-up';
import { startDevServer } from '../support/dev-server';
import { startPostgreSql, useForServers } from './postgresql';

const run = promisify(execFile);
const OPS = join(__dirname, '../../ops/temporal');
const DAY = 24 * 3_600;

describe('the scripts of ops/temporal when they run again', () => {
  const { TEMPORAL_SERVER = '', TEMPORAL_CLI = '', PATH } = process.env;
  const path = { PATH: [dirname(TEMPORAL_SERVER), dirname(TEMPORAL_CLI), PATH].join(':'), HOME: temporaryFolder() };
  let databases: Record<string, string>;
  let connection: Connection;
  let address: string;

  beforeAll(async () => {
    const postgresql = await startPostgreSql();
    useForServers(postgresql);
    const { port, passwordFile } = postgresql;
    databases = { POSTGRES_SEEDS: '127.0.0.1', DB_PORT: String(port), POSTGRES_PWD_FILE: passwordFile };
    ({ address } = await startDevServer());
    connection = await Connection.connect({ address });
    closeAtEnd(() => connection.close());
  });

  const retentionOf = async (namespace: string) => {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    return Number(config?.workflowExecutionRetentionTtl?.seconds) / DAY;
  };

  it('do not change databases that are set up', async () => {
    const env = { ...path, ...databases, DBNAME: 'again', VISIBILITY_DBNAME: 'again_visibility' };
    await run(join(OPS, 'set-up-schema.sh'), { env });
    const { stdout, stderr } = await run(join(OPS, 'set-up-schema.sh'), { env });
    expect(stderr.match(/found zero updates/g)).toHaveLength(2);
    expect(stdout).toContain('The databases again and again_visibility have');
  });

  it('create a namespace with 30 days of retention, and do not change an existing one', async () => {
    const make = (namespace: string) =>
      run(join(OPS, 'create-namespace.sh'), {
        env: { ...path, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
      });
    await make('new');
    await make('new');
    expect(await retentionOf('new')).toBe(30);
    const workflowExecutionRetentionPeriod = { seconds: (90 * DAY) as never };
    await connection.workflowService.registerNamespace({ namespace: 'kept', workflowExecutionRetentionPeriod });
    await make('kept');
    expect(await retentionOf('kept')).toBe(90);
  });
});
