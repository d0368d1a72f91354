/** What the watcher sends to a purchase: the row of its order in the order history is no longer an open one's. */
export interface OrderChange {
  orderId: string;
}

/** The activity of `watchWorkflow`. */
export interface WatchActivities {
  /**
   * Reads the order history again and again, for all purchases of this task queue that wait so, and wakes those whose order
   * may have ended. It ends when none has waited for a while (`needed: false`), and now and then, to be begun anew.
   */
  watchOrders(): Promise<WatchResult>;
}

export interface WatchResult {
  /** Whether it is to be begun anew. */
  needed: boolean;
}
