export { capacityFor, thisMachine } from './capacity';
export { connectWorker } from './connection';
export { readinessOf, startHealthServer } from './health';
export { runWorker } from './run-worker';
export { installRuntime, processMetrics } from './runtime';
export { versioningOf } from './versioning';
