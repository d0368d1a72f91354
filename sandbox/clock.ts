/** The real time in milliseconds since the epoch. */
export type Now = () => number;

/** Measures the age of orders. It runs `speed` times as fast as real time and can be moved forward. */
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

  /** Changes the speed from now on. Time that has already passed does not change. */
  setSpeed(speed: number): void {
    this.#reading = this.now();
    this.#readAt = this.calendar();
    this.speed = speed;
  }
}
