import { type WorkerProcess, startWorkerProcess } from '../support/processes';
import { startWorld, type World } from '../support/world';
import { FLAWLESS, judge } from './judge';
import { delivering, looking, type Moment, placing, searching, settling, stageOf } from './moments';
import { recover, startAll, strikeWhileBooking, until, untilReached } from './strike';

const PATIENT = { pollIntervalMs: 300, deadlineMs: 180_000, placeWithinMs: 120_000, settleMs: 1_000 };

/** Pairs of a moment and a fault: each moment, each fault, and the pairs that have bitten others. */
const MOMENTS: Moment[] = [
  searching('hangs', { type: 'hang' }),
  searching('is refused with 503', { type: 'answer', status: 503 }),
  placing('hangs', 'before', { action: { type: 'hang' } }),
  placing('hangs', 'after', { action: { type: 'hang' } }),
  placing('goes on after the caller is dead', 'before', { action: { type: 'delay', ms: 3_000 } }),
  placing('drips', 'after', { action: { type: 'drip' } }),
  placing('says 500 and has booked', 'after', { action: { type: 'answer', status: 500 } }),
  placing('says 500 and has not', 'before', { action: { type: 'answer', status: 500 } }),
  placing('breaks off', 'after', { action: { type: 'truncate', framing: 'none' } }),
  settling('hangs', 'after', { type: 'hang' }),
  settling('hangs', 'before', { type: 'hang' }),
  settling('is refused with 502', 'after', { type: 'answer', status: 502 }),
  looking('hang', { type: 'hang' }),
  looking('break off', { type: 'truncate', framing: 'chunked' }),
  delivering('hang'),
  delivering('take-and-hang'),
  delivering('take-and-reset'),
  delivering(503),
];

describe('a worker process that is struck', () => {
  const address = process.env.TEST_TEMPORAL_ADDRESS!;
  const workers: WorkerProcess[] = [];
  const worlds: World[] = [];

  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
    await Promise.all(worlds.map((world) => world.close()));
  });

  async function worldOf(replace: World['settings']['replace']): Promise<World> {
    const world = await startWorld({ worker: false, settings: { ...PATIENT, replace } });
    worlds.push(world);
    return world;
  }

  async function workerOf(world: World, env: Record<string, string> = {}): Promise<WorkerProcess> {
    const worker = await startWorkerProcess(world, address, env);
    workers.push(worker);
    return worker;
  }

  it.concurrent('by SIGKILL buys nothing twice and loses no key, whatever the moment', async () => {
    const world = await worldOf('always');
    const stage = stageOf(world);
    const victim = await workerOf(world);
    const bought = await startAll(stage, MOMENTS);
    await untilReached(bought);
    bought.push(...(await strikeWhileBooking(stage, 6, () => void victim.end('SIGKILL'))));
    await Promise.all([workerOf(world), workerOf(world)]);

    const ends = await recover(stage, bought);
    expect(new Set(ends.values())).toEqual(new Set(['DELIVERED']));
    const references = bought.map(({ referenceId }) => referenceId);
    expect(await judge(world, references)).toEqual(FLAWLESS);
    expect(world.receiver.contradictions).toEqual([]);
  }, 170_000);
});
