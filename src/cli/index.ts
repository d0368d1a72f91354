import { flushAndExit } from '../exit';
import { connectRetry } from '../workflows/policies';
import { runStarter } from './command-line';
import { loadConfig, loadPartner, loadTemporal } from './lazy';

/** Runs the command that the process was started with, and ends the process. */
export async function main(): Promise<void> {
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  // A reader such as `head` may have seen enough.
  process.stdout.on('error', () => flushAndExit(0));
  const exitCode = await runStarter(process.argv, {
    exitCode: 0,
    out: { json: false, write: (text) => void process.stdout.write(text), note },
    partner: () => loadPartner().createPartnerClient(loadConfig().readPartnerConfig()),
    schedule: () => loadConfig().readScheduleConfig(),
    taskQueue: () => loadConfig().readStarterConfig().taskQueue,
    temporal: () => {
      const { connectClient, readTemporalTarget } = loadTemporal();
      return connectClient(readTemporalTarget(), { ...connectRetry, onRetry: note });
    },
  });
  flushAndExit(exitCode);
}
