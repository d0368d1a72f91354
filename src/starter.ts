#!/usr/bin/env node
import nodeModule from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type * as Commands from './cli';

/*
 * Run as a program: the commands. Imported: the library. Each is loaded only when it is wanted, for a checkout must not
 * load the commands, nor `--help` the client of Temporal. The declarations of the library are those of starter/index.ts,
 * as package.json says.
 */
if (require.main === module) {
  // A command has ended before optimised code pays for being made: this saves a sixth of its time.
  setFlagsFromString('--no-opt');
  // Node 22.1 and later keep compiled code between runs.
  (nodeModule as { enableCompileCache?: () => void }).enableCompileCache?.();
  void (require('./cli') as typeof Commands).main();
} else {
  module.exports = require('./starter/index');
}
