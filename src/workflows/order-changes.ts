import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import { ORDER_CHANGED_SIGNAL } from '../contracts/names';
import type { OrderChange } from '../contracts/watch';
import { fieldsOf } from './value-guards';

/** The watcher has seen a row of the order history that may be the end of this order. Anybody can send it: a hint, no fact. */
const orderChangedSignal = defineSignal<[OrderChange]>(ORDER_CHANGED_SIGNAL);

/** What the watcher has said of the order of a purchase. */
export class OrderChanges {
  private changed: unknown;

  constructor() {
    setHandler(orderChangedSignal, (change) => {
      this.changed = fieldsOf<OrderChange>(change).orderId;
    });
  }

  /** Waits for a change of this order. @returns false when so many ms have passed without one. */
  of(orderId: string, withinMs: number): Promise<boolean> {
    return condition(() => this.changed === orderId, withinMs, { summary: 'then a poll without the watcher' });
  }

  /** From now on only what comes from now on counts: a poll begins. */
  forget(): void {
    this.changed = undefined;
  }
}
