export { runWorker } from './run-worker';
export { capacityOptions } from './capacity';
export { connectWorker } from './connection';
export { readinessOf, startHealthServer } from './health';
export { installRuntime, processMetrics } from './runtime';
export { versioningOf } from './versioning';
