import { DefaultLogger, Runtime } from '@temporalio/worker';

// Test output shows failures, not the logs of workers.
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: { core: 'ERROR' } } } });
