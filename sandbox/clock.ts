/** The calendar: milliseconds since the epoch. */
export type Now = () => number;

/** The time by which orders age. It runs `speed` times as fast as the calendar and can be pushed on. */
export class OrderClock {
  #reading = 0;
  #readAt: number;

  constructor(
    private readonly calendar: Now,
    private speed: number,
  ) {
    this.#readAt = calendar();
  }

  now(): number {
    return this.#reading + (this.calendar() - this.#readAt) * this.speed;
  }

  advance(ms: number): void {
    this.#reading += ms;
  }

  /** What has passed so far keeps its length; only what follows runs at the new speed. */
  setSpeed(speed: number): void {
    this.#reading = this.now();
    this.#readAt = this.calendar();
    this.speed = speed;
  }
}
