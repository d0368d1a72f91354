import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from './paths.mjs';

/*
 * The cost of a purchase on Temporal Cloud in actions, counted in recorded histories of real runs. For each of these shapes,
 * the count equals the metric `action` of a dev server of version 1.29.
 */

/** @typedef {{ eventType: string, workflowTaskCompletedEventId?: string, attempt?: number, activityType?: { name: string } }} Event */

/** Defaults, in seconds: PURCHASE_FIRST_POLL, PURCHASE_POLL_INTERVAL. */
const [FIRST_POLL, POLL_INTERVAL] = [5, 30];
/** The number of polls after the first one until an order that is ready after this many minutes is seen. */
const pollsUntil = (/** @type {number} */ minutes) => Math.ceil((minutes * 60 - FIRST_POLL) / POLL_INTERVAL);

/**
 * Each shape: its recorded run, the retries of its activities if the recorded run was shorter, and the actions that its history
 * does not contain.
 *
 * @type {{ shape: string, history: string, retries?: number, more?: number }[]}
 */
const SHAPES = [
  { shape: 'ready at its first poll, after 5 s', history: 'delivered' },
  { shape: 'open for 5 minutes', history: 'delivered-after-changes', retries: pollsUntil(5) },
  { shape: 'open for 20 minutes', history: 'delivered-after-changes', retries: pollsUntil(20) },
  { shape: 'open for 25 minutes, then overdue', history: 'overdue', retries: pollsUntil(25) - 1 },
  { shape: 'placement unknown, held, then `resolve --order`', history: 'held-placement-unknown-order' },
  { shape: 'delivery rejected, held, then `resolve --deliver`', history: 'held-delivery-refused-deliver' },
  // The schedule itself takes two.
  { shape: 'a night: the schedule, the reconciliation, its report', history: 'reconciled', more: 2 },
];

/** The table of docs/deploying.md. */
export async function cloudActionRows() {
  const rows = await Promise.all(
    SHAPES.map(async ({ shape, history, retries, more = 0 }) => {
      const counted = countActions(await eventsOf(history), retries);
      const cells = [counted.activities, counted.retries, counted.attributes, counted.others + more];
      const total = cells.reduce((sum, count) => sum + count, 0);
      return `| ${shape} | ${cells.join(' | ')} | **${total}** | $${(total * 0.05).toFixed(2)} |`;
    }),
  );
  const head = ['shape', 'activities', 'retries', 'attributes, memo', 'others', 'actions', '1,000 at $50 a million'];
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows];
}

/** @param {Event[]} events @param {number} [retries] */
function countActions(events, retries) {
  const count = (/** @type {string} */ pattern) =>
    events.filter(({ eventType }) => new RegExp(`^EVENT_TYPE_(${pattern})$`).test(eventType)).length;
  const local = events.filter(({ eventType }) => eventType === 'EVENT_TYPE_MARKER_RECORDED');
  const recorded = events
    .filter(({ eventType }) => eventType === 'EVENT_TYPE_ACTIVITY_TASK_STARTED')
    .map(({ attempt = 1 }) => attempt - 1);
  // A placement records its intention in a heartbeat. A reconciliation sends one every 16 s, so a short one sends one.
  const heartbeats = events.filter(({ activityType }) =>
    /^(placeOrder|reconcileOrders)$/.test(activityType?.name ?? ''),
  );
  // All local activities of one workflow task count as one.
  const localBatches = new Set(local.map(({ workflowTaskCompletedEventId }) => workflowTaskCompletedEventId));
  const single =
    'WORKFLOW_EXECUTION_STARTED|TIMER_STARTED|WORKFLOW_EXECUTION_SIGNALED|WORKFLOW_EXECUTION_UPDATE_ACCEPTED';
  return {
    activities: count('ACTIVITY_TASK_SCHEDULED'),
    retries: retries ?? recorded.reduce((sum, more) => sum + more, 0),
    attributes: count('UPSERT_WORKFLOW_SEARCH_ATTRIBUTES|WORKFLOW_PROPERTIES_MODIFIED'),
    others: count(single) + heartbeats.length + localBatches.size,
  };
}

/**
 * The events of a recorded history, each with its attributes.
 *
 * @type {(name: string) => Promise<Event[]>}
 */
async function eventsOf(name) {
  const text = await readFile(join(projectRoot, 'test/replay/histories', `${name}.json`), 'utf8');
  /** @type {Record<string, any>[]} */
  const events = JSON.parse(text).history.events;
  return events.map((event) => ({
    eventType: event.eventType,
    ...Object.entries(event).find(([field]) => field.endsWith('Attributes'))?.[1],
  }));
}
