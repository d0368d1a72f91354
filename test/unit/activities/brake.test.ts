import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createBrake } from '../../../src/activities/brake';
import type { ClosedBrake, ReportedPlacement } from '../../../src/contracts/brake';
import { waitUntil } from '../../support/wait-until';

const CLOSED = { reason: 'UNKNOWN', since: Date.now(), until: Date.now() + 60_000, letThrough: 'R-1' } as const;

describe('the brake as a worker sees it', () => {
  it.each<[string, () => Promise<unknown>, string, boolean]>([
    ['is closed as long as the server says so', () => running(CLOSED), 'R-2', true],
    ['is open for the purchase that is let through', () => running(CLOSED), 'R-1', false],
    [
      'is open when nothing was heard of it for long',
      () => running({ ...CLOSED, until: Date.now() - 1 }),
      'R-2',
      false,
    ],
    ['is open when it does not run', () => ended(CLOSED), 'R-2', false],
    [
      'is open when there is none',
      () => Promise.reject(new WorkflowNotFoundError('none', 'brake-q', undefined)),
      'R-2',
      false,
    ],
    ['is open when Temporal can not be asked', () => Promise.reject(new Error('unavailable')), 'R-2', false],
    ['is open when its memo is none of ours', () => running('closed' as unknown as ClosedBrake), 'R-2', false],
  ])('%s', async (_, describeBrake, referenceId, closed) => {
    const check = await inActivity(async () => {
      const { confirmed } = await createBrake(clientOf(describeBrake)).check({ referenceId, woken: false });
      return confirmed();
    });
    expect(check !== undefined).toBe(closed);
  });

  it('keeps no placement waiting for the answer of Temporal as long as it was open', async () => {
    const check = await inActivity(() =>
      createBrake(clientOf(() => new Promise(() => {}))).check({ referenceId: 'R-1', woken: false }),
    );
    expect(check.closed).toBeUndefined();
  });

  it('reports what goes well once in a while, and ahead of the next that goes wrong', async () => {
    const signals: ReportedPlacement[][] = [];
    const brake = createBrake(clientOf(() => running(undefined), signals));
    await inActivity(async () => {
      const report = async (referenceId: string, sign: 'GOOD' | 'UNKNOWN') => {
        const check = await brake.check({ referenceId, woken: true });
        check.report(sign);
        check.end();
      };
      for (let placement = 0; placement < 200; placement++) await report(`G-${placement}`, 'GOOD');
      await report('BAD', 'UNKNOWN');
      await waitUntil('it is reported', () => signals.flat().some(({ sign }) => sign === 'UNKNOWN'));
    });
    expect(signals.length).toBeLessThan(5);
    expect(signals.flat().slice(-2)).toEqual([
      { referenceId: 'G-199', sign: 'GOOD' },
      { referenceId: 'BAD', sign: 'UNKNOWN' },
    ]);
  });
});

const running = async (brake: ClosedBrake | undefined) => ({ status: { name: 'RUNNING' }, memo: { brake } });
const ended = async (brake: ClosedBrake) => ({ status: { name: 'TERMINATED' }, memo: { brake } });

/** The part of a Temporal client that the brake is asked and reported to by. */
function clientOf(describeBrake: () => Promise<unknown>, signals: ReportedPlacement[][] = []): Client {
  const take = async (placements: ReportedPlacement[]) => void signals.push(placements);
  return {
    withDeadline: (_: number, call: () => Promise<unknown>) => call(),
    workflow: {
      getHandle: () => ({
        describe: describeBrake,
        signal: (_: string, placements: ReportedPlacement[]) => take(placements),
      }),
      signalWithStart: (_: string, { signalArgs }: { signalArgs: [ReportedPlacement[]] }) => take(signalArgs[0]),
    },
  } as unknown as Client;
}

function inActivity<T>(work: () => Promise<T>): Promise<T> {
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(work);
}
