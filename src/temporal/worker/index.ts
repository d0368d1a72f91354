export { capacityFor, thisMachine } from './capacity';
export { connectWorker } from './connection';
export { readinessOf, startHealthServer } from './health';
export { runWorker, versioningOf } from './run-worker';
export { installRuntime, processMetrics } from './runtime';
