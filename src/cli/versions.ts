import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The versions that a bug report needs. */
export function readVersions() {
  return {
    fulfilment: versionIn(join(__dirname, '../../package.json')),
    node: process.versions.node,
    temporalSdk: versionIn(require.resolve('@temporalio/client/package.json')),
  };
}

function versionIn(file: string): string {
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
