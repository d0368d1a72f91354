import { environment, readDoctorConfig, readPartnerConfig, readScheduleConfig, readStarterConfig } from '../config';
import { flushAndExit } from '../exit';
import { startTracing, type Tracing } from '../tracing';
import { connectOnce, connectRetry } from '../workflows/policies';
import { runStarter } from './command-line';
import { loadDoctor, loadPartner, loadTemporal } from './context';

/** Runs the command that the process was started with, and ends the process. */
export async function main(): Promise<void> {
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  // A reader such as `head` may have seen enough. Any other failure, such as a full disk, has lost what the caller asked for.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => flushAndExit(code === 'EPIPE' ? 0 : 1));
  let tracing: Tracing | undefined;
  const connect = async (retry: typeof connectRetry) => {
    const { tracingEndpoint, temporalApiKey } = readStarterConfig();
    tracing ??= startTracing(tracingEndpoint, 'starter', note);
    const { connectClient, readTemporalTarget } = loadTemporal();
    const target = readTemporalTarget(environment(), temporalApiKey);
    return connectClient(target, { ...retry, onRetry: note }, tracing.clientInterceptors);
  };
  const exitCode = await runStarter(process.argv, {
    exitCode: 0,
    out: { json: false, write: (text) => void process.stdout.write(text), note },
    partner: () => loadPartner().createPartnerClient(readPartnerConfig()),
    schedule: () => readScheduleConfig(),
    taskQueue: () => readStarterConfig().taskQueue,
    temporal: () => connect(connectRetry),
    doctor: () =>
      loadDoctor().diagnose({
        config: readDoctorConfig(),
        connect: () => connect(connectOnce),
        now: Date.now,
        unique: () => crypto.randomUUID(),
      }),
  });
  await tracing?.close();
  flushAndExit(exitCode);
}
