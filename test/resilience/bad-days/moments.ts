import { setTimeout as sleep } from 'node:timers/promises';
import type { TestEnvironment } from '../../support/test-environment';
import type { Moment } from './plan';

const EVERY_MS = 4;

/** Tells when an event of a plan is due. */
export class Moments {
  private begunAt = Date.now();
  private over = false;
  private logRead = 0;
  private readonly searched = new Set<string>();

  constructor(
    private readonly environment: TestEnvironment,
    private readonly referenceOf: (name: string) => string,
  ) {}

  /** A part of the day begins: times count from here. */
  begin(): void {
    this.begunAt = Date.now();
    this.over = false;
  }

  /** From now on nobody waits for a call that has not come. */
  end(): void {
    this.over = true;
  }

  /** @returns whether it has come; false once the part of the day is over. */
  async come(moment: Moment): Promise<boolean> {
    if ('atMs' in moment) {
      await sleep(Math.max(0, this.begunAt + moment.atMs - Date.now()));
      return true;
    }
    const referenceId = this.referenceOf(moment.of);
    while (!this.hasSeen(moment.after, referenceId)) {
      if (this.over) return false;
      await sleep(EVERY_MS);
    }
    if (moment.ms > 0) await sleep(moment.ms);
    return true;
  }

  private hasSeen(call: 'search' | 'place' | 'delivery', referenceId: string): boolean {
    const { sandbox, receiver } = this.environment;
    if (call === 'place') return sandbox.placeRequestsOf(referenceId) > 0;
    if (call === 'delivery') return receiver.attemptsOf(referenceId).length > 0;
    const log = sandbox.log();
    for (const { operation, path } of log.slice(this.logRead)) {
      const [, query = ''] = path.split('?');
      if (operation === 'orders') for (const value of new URLSearchParams(query).values()) this.searched.add(value);
    }
    this.logRead = log.length;
    return this.searched.has(referenceId);
  }
}
