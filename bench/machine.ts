import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, loadavg, platform, totalmem } from 'node:os';

/** The machine and the versions of a measurement. */
export interface Machine {
  cpu: string;
  cores: number;
  memoryGb: number;
  platform: string;
  /** Load average over the previous minute. */
  loadBefore: number;
  node: string;
  /** As reported by the Temporal CLI. */
  server: string;
  sdk: string;
}

export function describeMachine(cli: string): Machine {
  const sdk = JSON.parse(readFileSync(require.resolve('@temporalio/worker/package.json'), 'utf8')) as {
    version: string;
  };
  const version = execFileSync(cli, ['--version'], { encoding: 'utf8' });
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    platform: `${platform()} ${arch()}`,
    loadBefore: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    node: process.versions.node,
    server: /Server ([\d.]+)/.exec(version)?.[1] ?? version.trim(),
    sdk: sdk.version,
  };
}
