import { DefaultLogger, Runtime } from '@temporalio/worker';

// A suite prints what fails, not what a worker has to say.
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: { core: 'ERROR' } } } });
