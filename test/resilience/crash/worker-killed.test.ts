import { randomUUID } from 'node:crypto';
import { type Environment, startWorkerProcess, type WorkerProcess } from '../../support/processes';
import { startWorld, type World } from '../../support/world';
import { FLAWLESS, judge } from './judge';
import { booked, delivering, looking, type Moment, placing, searching, settling, type Stage, stageOf } from './moments';
import { type Bought, recover, startAll, strikeWhilePlacing, until, untilReached, untilSettled } from './strike';

const PATIENT = { pollIntervalMs: 300, deadlineMs: 180_000, placeWithinMs: 120_000, settleMs: 8_000 };

/** Pairs of a moment and a fault: each moment, each kind of fault, and the pairs in which money is at stake. */
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
/** Struck in the instant in which the partner books the first of them. */
const AT_THE_ANSWER = Array.from({ length: 6 }, booked);

describe('a worker process that is struck', () => {
  const address = process.env.TEST_TEMPORAL_ADDRESS!;
  const workers: WorkerProcess[] = [];
  const worlds: World[] = [];

  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
    await Promise.all(worlds.map((world) => world.close()));
  });

  async function worldOf(replace: World['settings']['replace']): Promise<World> {
    // Order ids follow from the seed, and an order that two purchases of one namespace name is held.
    const sandbox = { seed: randomUUID() };
    const world = await startWorld({ worker: false, sandbox, settings: { ...PATIENT, replace } });
    worlds.push(world);
    return world;
  }

  async function workerOf(world: World, env: Environment = {}): Promise<WorkerProcess> {
    const worker = await startWorkerProcess(world, address, env);
    workers.push(worker);
    return worker;
  }

  /** Brings purchases to every moment and strikes them all with one blow. */
  async function struck(stage: Stage, strike: () => void): Promise<Bought[]> {
    const bought = await startAll(stage, MOMENTS);
    await untilReached(bought);
    return [...bought, ...(await strikeWhilePlacing(stage, AT_THE_ANSWER, strike))];
  }

  it.concurrent(
    'by SIGKILL buys nothing twice and loses no key, whatever the moment',
    async () => {
      const world = await worldOf('always');
      const stage = stageOf(world);
      const victim = await workerOf(world);
      const bought = await struck(stage, () => void victim.end('SIGKILL'));
      await Promise.all([workerOf(world), workerOf(world)]);

      expect(await recover(stage, bought)).toEqual([]);
      expect(await judge(world, references(bought))).toEqual(FLAWLESS);
      expect(world.receiver.contradictions).toEqual([]);
    },
    300_000,
  );

  it.concurrent(
    'by SIGTERM ends with 0 and leaves nothing half done that is done again',
    async () => {
      const world = await worldOf('answered');
      const stage = stageOf(world);
      const victim = await workerOf(world);
      let exit: Promise<number | null> | undefined;
      const bought = await struck(stage, () => void (exit = victim.end('SIGTERM')));
      await workerOf(world);

      // Where nothing was answered and nothing was bought, a person must decide.
      const undelivered = await recover(stage, bought);
      expect(undelivered.filter((line) => !line.endsWith(': HELD'))).toEqual([]);
      const { unplaced, ...verdict } = await judge(world, references(bought));
      expect({ ...verdict, unplaced: [] }).toEqual(FLAWLESS);
      expect(unplaced).toHaveLength(undelivered.length);
      expect(world.receiver.contradictions).toEqual([]);
      expect(await exit).toBe(0);
    },
    300_000,
  );

  it.concurrent(
    'by SIGSTOP past its timeouts, and thawed, disturbs nothing that another did since',
    async () => {
      const world = await worldOf('always');
      const stage = stageOf(world);
      const victim = await workerOf(world);
      const bought = await struck(stage, () => victim.signal('SIGSTOP'));
      await workerOf(world);
      const ends = recover(stage, bought);
      const hung = bought.find(({ moment }) => moment.name === 'placing (before the commit): hangs')!;
      await until(() => world.sandbox.placeRequestsOf(hung.referenceId) > 1);
      victim.signal('SIGCONT');

      expect(await ends).toEqual([]);
      expect(await victim.end('SIGTERM')).toBe(0);
      expect(await judge(world, references(bought))).toEqual(FLAWLESS);
      expect(world.receiver.contradictions).toEqual([]);
    },
    300_000,
  );

  it.concurrent(
    'by SIGSTOP between the search and the write posts nothing when it is thawed',
    async () => {
      const world = await worldOf('never');
      const stage = stageOf(world);
      // A request every 4 s: between its search and its write the placement waits for its turn.
      const victim = await workerOf(world, { PARTNER_MAX_RPS: '0.25' });
      const bought = await startAll(stage, [looking('wait', { type: 'hang' })]);
      await until(() => world.sandbox.requests().orders >= 1 + bought.length, 5);
      victim.signal('SIGSTOP');
      expect(world.sandbox.requests().place).toBe(0);

      await workerOf(world);
      await until(async () => (await Promise.all(bought.map((one) => hasTimedOut(world, one)))).every(Boolean), 100);
      victim.signal('SIGCONT');
      expect(await victim.end('SIGTERM')).toBe(0);
      expect(world.sandbox.requests().place).toBe(0);

      const ends = await untilSettled(world, references(bought));
      expect([...ends.values()]).toEqual(['HELD']);
      expect(world.sandbox.requests().place).toBe(0);
    },
    300_000,
  );
});

function references(bought: readonly Bought[]): string[] {
  return bought.map(({ referenceId }) => referenceId);
}

async function hasTimedOut(world: World, { referenceId }: Bought): Promise<boolean> {
  const history = await world.client.workflow.getHandle(`purchase-${referenceId}`).fetchHistory();
  return history.events?.some((event) => event.activityTaskTimedOutEventAttributes) ?? false;
}
