import { flushAndExit } from '../exit';
import { connectOnce, connectRetry } from '../workflows/policies';
import { runStarter } from './command-line';
import { loadConfig, loadDoctor, loadPartner, loadTemporal } from './lazy';

/** Runs the command that the process was started with, and ends the process. */
export async function main(): Promise<void> {
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  // A reader such as `head` may have seen enough.
  process.stdout.on('error', () => flushAndExit(0));
  const connect = (retry: typeof connectRetry) => {
    const { connectClient, readTemporalTarget } = loadTemporal();
    return connectClient(readTemporalTarget(), { ...retry, onRetry: note });
  };
  const exitCode = await runStarter(process.argv, {
    exitCode: 0,
    out: { json: false, write: (text) => void process.stdout.write(text), note },
    partner: () => loadPartner().createPartnerClient(loadConfig().readPartnerConfig()),
    schedule: () => loadConfig().readScheduleConfig(),
    taskQueue: () => loadConfig().readStarterConfig().taskQueue,
    temporal: () => connect(connectRetry),
    doctor: () =>
      loadDoctor().diagnose({
        config: loadConfig().readDoctorConfig(),
        connect: async () => connect(connectOnce),
        now: Date.now,
        unique: () => crypto.randomUUID(),
      }),
  });
  flushAndExit(exitCode);
}
