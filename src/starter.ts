#!/usr/bin/env node
import type * as Commands from './cli';

/*
 * Run as a program, this file is the command line; imported, it is the library. It loads only the one that is used: a
 * checkout must not load the commands, and `--help` must not load the Temporal client. The types in package.json are
 * starter/index.ts.
 */
if (require.main === module) {
  void (require('./cli') as typeof Commands).main();
} else {
  module.exports = require('./starter/index');
}
