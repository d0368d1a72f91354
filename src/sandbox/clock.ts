/** The calendar: milliseconds since the epoch. */
export type Now = () => number;

/** The time by which orders age. It runs `speed` times as fast as the calendar and can be pushed on. */
export class OrderClock {
  #speed: number;
  #reading: number;
  #readAt: number;

  constructor(
    private readonly calendar: Now,
    speed: number,
  ) {
    this.#speed = speed;
    this.#reading = 0;
    this.#readAt = calendar();
  }

  now(): number {
    return this.#reading + (this.calendar() - this.#readAt) * this.#speed;
  }

  advance(ms: number): void {
    this.#reading += ms;
  }

  /** What has passed so far keeps its length; only what follows runs at the new speed. */
  setSpeed(speed: number): void {
    this.#reading = this.now();
    this.#readAt = this.calendar();
    this.#speed = speed;
  }
}

/** Everything that waits in this server, so that closing it ends the waiting. */
export class Timers {
  readonly #running = new Set<NodeJS.Timeout>();

  /** @returns a function that calls it off */
  after(ms: number, act: () => void): () => void {
    const timer = setTimeout(() => {
      this.#running.delete(timer);
      act();
    }, ms);
    return this.#hold(timer);
  }

  /** @returns a function that ends it */
  every(ms: number, act: () => void): () => void {
    return this.#hold(setInterval(act, ms));
  }

  stopAll(): void {
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }

  #hold(timer: NodeJS.Timeout): () => void {
    this.#running.add(timer);
    return () => {
      clearTimeout(timer);
      this.#running.delete(timer);
    };
  }
}
