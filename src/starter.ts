#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import type * as Commands from './cli';

/*
 * Run as a program: the commands. Imported: the library. Each is loaded only when it is wanted, for a checkout must not
 * load the commands, nor `--help` the client of Temporal. The declarations of the library are those of starter/index.ts,
 * as package.json says.
 */
if (require.main === module) void (compiledCommands() ?? commands()).main();
else module.exports = require('./starter/index');

/**
 * The commands in one file and compiled already, as the build has left them: they start in half the time. V8 takes them only
 * where the same version of Node runs with the same options; anywhere else the answer is undefined.
 */
function compiledCommands(): typeof Commands | undefined {
  const filename = join(__dirname, 'starter-bundle.js');
  const cachedData = readIfThere(`${filename}.cache`);
  if (!cachedData) return undefined;
  const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
  if (script.cachedDataRejected) return undefined;
  return (script.runInThisContext() as (load: NodeJS.Require) => typeof Commands)(require);
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function commands(): typeof Commands {
  // Node 22.1 and later keep compiled code between runs.
  (nodeModule as { enableCompileCache?: () => void }).enableCompileCache?.();
  return require('./cli') as typeof Commands;
}
