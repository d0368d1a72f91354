#!/usr/bin/env node
import type * as Commands from './cli';

/*
 * Run as a program, this is the command line; imported, it is the library. Each is loaded only when it is used: a checkout
 * must not load the commands, nor `--help` the Temporal client. package.json points types at starter/index.ts.
 */
if (require.main === module) {
  void (require('./cli') as typeof Commands).main();
} else {
  module.exports = require('./starter/index');
}
