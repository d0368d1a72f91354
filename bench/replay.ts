import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { workflowCodeOptions } from '../src/workflows/policies';
import { projectRoot } from './paths';
import type { Progress } from './progress';
import { table } from './report';
import { median } from './statistics';

const TIMES = 400;
/** After this many replays V8 has compiled the hot code. */
const WARM_UP = 100;
const OWN_BUNDLE = join(projectRoot, 'dist/workflow-bundle.js');
const RECORDED = join(projectRoot, 'test/replay/histories/delivered.json');
const THREADS = '/proc/self/task';

interface Recorded {
  workflowId: string;
  history: object;
}

/** Replays one history with one bundle repeatedly, in its own thread. */
interface Replayer {
  bundle: string;
  replay(): Promise<void>;
  /** CPU used by the thread, ms. */
  cpu(): number;
}

/**
 * Replays a recorded purchase with this build's workflow bundle and with others, in turn, so that a slow machine affects
 * all of them. Two runs of the same bundle differ by up to 2%.
 *
 * @param others files such as another build's `dist/workflow-bundle.js`.
 * @returns a table with the workflow thread's CPU for one replay.
 * @throws Error if threads can't be measured (only Linux shows them), or if a bundle does not fit the recording.
 */
export async function compareReplays(others: readonly string[], progress: Progress): Promise<string> {
  if (!existsSync(`${THREADS}/${process.pid}/schedstat`)) {
    throw new Error(`expected ${THREADS}/…/schedstat, which exists only on Linux: run the comparison on Linux`);
  }
  const missing = others.find((bundle) => !existsSync(bundle));
  if (missing !== undefined) {
    throw new Error(`expected another build's dist/workflow-bundle.js; the file ${missing} does not exist`);
  }
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const recorded = JSON.parse(readFileSync(RECORDED, 'utf8')) as Recorded;
  const replayers: Replayer[] = [];
  for (const bundle of [OWN_BUNDLE, ...others]) {
    progress.begin(`warming up  ${bundle}`);
    replayers.push(await startReplayer(resolve(bundle), recorded));
  }

  const measured = replayers.map((): number[] => []);
  progress.begin('replaying');
  for (let time = 0; time < TIMES; time++) {
    progress.detail(`${time} of ${TIMES}`);
    for (const [index, replayer] of replayers.entries()) {
      const before = replayer.cpu();
      await replayer.replay();
      measured[index]?.push(replayer.cpu() - before);
    }
  }
  const medians = measured.map(median);
  const rows = replayers.map(({ bundle }, index) => {
    const [own = NaN, used = NaN] = [medians[0], medians[index]];
    return [bundle, used.toFixed(2), (used / own).toFixed(3)];
  });
  return table([['bundle', 'CPU for one replay, ms', 'ratio'], ...rows]);
}

async function startReplayer(bundle: string, recorded: Recorded): Promise<Replayer> {
  const others = new Set(readdirSync(THREADS));
  const wanted = new Readable({ objectMode: true, read: () => undefined });
  const options = {
    ...workflowCodeOptions,
    workflowBundle: { codePath: bundle },
    workflowThreadPoolSize: 1,
    // Otherwise the replay would run in the main thread.
    debugMode: false,
    reuseV8Context: true,
  };
  const results = Worker.runReplayHistories(options, wanted)[Symbol.asyncIterator]();
  const replay = async () => {
    wanted.push(recorded);
    const { value } = (await results.next()) as { value: { error?: Error } };
    if (value.error) throw new Error(`${bundle} does not fit ${RECORDED}: ${value.error.message}`);
  };
  for (let time = 0; time < WARM_UP; time++) await replay();
  // The workflow thread is the new thread that has used the most CPU.
  const [thread = ''] = readdirSync(THREADS)
    .filter((id) => !others.has(id))
    .toSorted((one, other) => cpuOf(other) - cpuOf(one));
  return { bundle, replay, cpu: () => cpuOf(thread) };
}

/** The first field is the time on a processor in ns, see proc(5). */
function cpuOf(thread: string): number {
  try {
    return Number(readFileSync(`${THREADS}/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return 0; // it has ended
  }
}
