#!/usr/bin/env node
import nodeModule from 'node:module';
import type * as Commands from './cli';

/*
 * Run as a program, this is the command line; imported, it is the library. Each is loaded only when it is used: a checkout
 * must not load the commands, nor `--help` the Temporal client. package.json points types at starter/index.ts.
 */
if (require.main === module) {
  // Node 22.1 and later keep compiled code between runs.
  (nodeModule as { enableCompileCache?: () => void }).enableCompileCache?.();
  void (require('./cli') as typeof Commands).main();
} else {
  module.exports = require('./starter/index');
}
