/** So much of its body each answer may hold at any time. Most answers are shorter. */
export const SHORT_BODY_BYTES = 256 * 1024;
/** So many answers that are longer are read at the same time: hundreds near the cap would take the memory of the worker. */
const MOST_AT_ONCE = 4;

/** Those who read a long body, and those who wait to, in the order of arrival. */
export class LongBodies {
  private reading = 0;
  private readonly waiting: (() => void)[] = [];

  /**
   * Asks for a place among those who read.
   *
   * @param goOn called once if there is none yet, when there is.
   * @returns whether there is one now, and what gives it back or stops the waiting: to be called once.
   */
  enter(goOn: () => void): { mayRead: boolean; leave: () => void } {
    if (this.reading < MOST_AT_ONCE) {
      this.reading += 1;
      return { mayRead: true, leave: () => this.next() };
    }
    this.waiting.push(goOn);
    return { mayRead: false, leave: () => this.leaveQueue(goOn) };
  }

  private leaveQueue(goOn: () => void): void {
    const index = this.waiting.indexOf(goOn);
    if (index < 0) return this.next();
    this.waiting.splice(index, 1);
  }

  private next(): void {
    const goOn = this.waiting.shift();
    if (goOn) goOn();
    else this.reading -= 1;
  }
}
