export { connectWorker } from './connection';
export { readinessOf, startHealthServer } from './health';
export { installRuntime } from './runtime';
