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

  /** Waits for a change of this order, as long as the other goes on; without one, for so many ms. @returns whether there is one. */
  async of(orderId: string, other: { hasEnded: boolean } | undefined, withinMs: number): Promise<boolean> {
    const isChanged = () => this.changed === orderId;
    if (other) await condition(() => isChanged() || other.hasEnded);
    else await condition(isChanged, withinMs, { summary: 'then the last poll' });
    return isChanged();
  }

  /** From now on only what comes from now on counts: a poll begins. */
  forget(): void {
    this.changed = undefined;
  }
}
