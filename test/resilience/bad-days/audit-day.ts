import { setImmediate as nextTurn } from 'node:timers/promises';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import type { Fault, LedgerOrder } from '../../../sandbox';
import type { PurchaseStatus } from '../../../src/starter/index';
import { changedEvents, keysOf, type PurchaseAudit } from '../../support/audit';
import { eventsOf, intentionsOfTimedOut } from '../../support/history';
import { TEST_FINGERPRINT_SECRET, TEST_SIGNING_SECRET } from '../../support/settings';
import { type Evidence, findLeaks, inWords } from '../../security/support/leak-search';
import { textOf } from '../../security/support/temporal-evidence';
import { auditFindings, isBroken } from './audit-findings';
import type { DayParts } from './happenings';
import type { Plan, PlannedPurchase } from './plan';

/** One purchase at the end of a day, as the partner, the checkout and Temporal know it. */
export interface PurchaseEvidence extends PurchaseAudit {
  planned: PlannedPurchase;
  referenceId: string;
  status: PurchaseStatus;
  history: Awaited<ReturnType<typeof eventsOf>>;
  /** The orders that cost money. */
  billable: LedgerOrder[];
}

/**
 * Compares the partner's ledger with everything else, after two reconciliations and when nothing runs any more.
 *
 * @returns the violations: a kind, a colon and the purchase
 */
export async function auditDay(plan: Plan, parts: DayParts): Promise<string[]> {
  const evidence = await Promise.all(plan.purchases.map((planned) => evidenceOf(parts, planned)));
  return [
    ...evidence.flatMap((one) => [
      ...boughtOnce(plan, parts, one),
      ...notifiedRightly(plan, one),
      ...keysArrived(plan, parts, one),
      ...keysUnderOneId(parts, one),
      ...waitsForSomething(plan, parts, one),
      ...ended(plan, one),
    ]),
    ...changedEvents(parts.environment.receiver).map((id) => `an event came with other keys: ${id}`),
    ...auditFindings(plan, parts, evidence),
    ...(await auditLeaks(parts, evidence)),
  ];
}

async function evidenceOf({ environment, referenceOf }: DayParts, planned: PlannedPurchase): Promise<PurchaseEvidence> {
  const referenceId = referenceOf(planned.name);
  const audit = await environment.audit(referenceId);
  return {
    ...{ planned, referenceId, ...audit },
    status: await environment.starter.status(referenceId),
    history: await eventsOf(environment, purchaseWorkflowId(referenceId)),
    billable: audit.orders.filter(({ status }) => status !== 'FAILED' && status !== 'REFUNDED'),
  };
}

/** Bought once; or twice for a reason that can't be prevented, and then reported. */
function boughtOnce(plan: Plan, parts: DayParts, one: PurchaseEvidence): string[] {
  if (one.orders.length <= 1) return [];
  const reason = excuseOf(plan, parts, one.planned);
  const what = `${nameOf(one)}: ${one.orders.length} orders of ${one.requests} requests`;
  if (reason === undefined) return [`bought twice: ${what}`];
  if (one.billable.length <= 1 || isReported(parts, one, 'DOUBLE_PURCHASE')) return [];
  return [`bought twice and not reported: ${what} (${reason})`];
}

/**
 * Why a second order could not be prevented. A window that was too short is a reason only when an absent order may be
 * placed again: after a response, or always.
 */
function excuseOf(plan: Plan, { chronicle }: DayParts, { name, faults, beyond }: PlannedPurchase): string | undefined {
  if (chronicle.replaced.has(name)) return 'a person had it placed again';
  if (faults.some(({ commit }) => commit?.type === 'copies')) return beyond;
  const events = plan.events.flatMap(({ what }) => (what.type === 'partner fault' ? [what.fault] : []));
  const mayReplace = {
    never: false,
    answered: [...faults, ...events].some(isAnswered),
    always: true,
  }[plan.settings.replace];
  return mayReplace ? (beyond ?? plan.partner.beyond) : undefined;
}

/** Whether the partner responds to a placement with an error that does not say whether the order was booked. */
function isAnswered({ operation, action }: Pick<Fault, 'operation' | 'action'>): boolean {
  if (operation !== 'place') return false;
  return action?.type === 'unsuccessful' || (action?.type === 'answer' && action.status >= 400);
}

const NOTHING_TO_DO = ['REJECTED', 'NOT_PLACED', 'CANCELLED'];

/**
 * No event may say that nothing was bought when an order was paid, unless the order was booked after the purchase had
 * ended.
 */
function notifiedRightly(plan: Plan, one: PurchaseEvidence): string[] {
  const { planned, billable, status } = one;
  if (status.workflowStatus !== 'COMPLETED') return [];
  const bookedLater = planned.beyond !== undefined || isLaggingLong(plan, one);
  if (billable.length > 0 && NOTHING_TO_DO.includes(status.state) && !bookedLater) {
    return [`notified that nothing was bought: ${nameOf(one)} is ${status.state}, and paid (${status.result?.reason})`];
  }
  const isQuietDay = plan.events.every(({ part }) => part === 'evening');
  // If the partner ignores searches, each placement reads the pages of all orders since its start, too many for a low
  // rate limit.
  const isSearched = plan.partner.settings.search !== 'ignored';
  const untroubled = planned.faults.length === 0 && plan.maxRps !== undefined && isQuietDay && isSearched;
  return status.state === 'NOT_PLACED' && untroubled
    ? [`not placed for no reason: ${nameOf(one)}: ${status.result?.reason}`]
    : [];
}

/**
 * Whether the history lagged longer than the confirmation window, and absence counted as proof: by setting, or after a
 * 409.
 */
function isLaggingLong({ partner, settings }: Plan, { planned }: PurchaseEvidence): boolean {
  const isConflict = ({ operation, action }: Fault) =>
    operation === 'place' && action?.type === 'answer' && action.status === 409;
  return partner.beyond !== undefined && (settings.replace !== 'never' || planned.faults.some(isConflict));
}

/** Every paid key is at the checkout, or a finding or a hold says that it is not. */
function keysArrived(plan: Plan, parts: DayParts, one: PurchaseEvidence): string[] {
  const { billable, received, status, events } = one;
  const issued = keysOf(...billable);
  const missing = issued.filter((key) => !received.includes(key));
  const foreign = received.filter((key) => !one.issued.includes(key) && !wasRefunded(one));
  const isHeld = status.state === 'HELD' && events.some(({ type }) => type === 'purchase.held');
  return [
    ...(missing.length > 0 && !isHeld && !isReported(parts, one)
      ? [`keys lost: ${nameOf(one)}: ${missing.length} of ${issued.length}`]
      : []),
    ...(missing.length > 0 && keysMayHaveArrived(plan, parts, one)
      ? [`keys left: ${nameOf(one)} is ${status.state}: ${missing.length} of ${issued.length} could be delivered`]
      : []),
    ...(foreign.length > 0 ? [`keys of another order: ${nameOf(one)}: ${foreign.length}`] : []),
  ];
}

const BOUGHT = ['DELIVERED', 'PARTIALLY_DELIVERED', 'OVERDUE'];

/** Whether nothing prevents the missing deliveries: a reconciliation makes them without an operator. */
function keysMayHaveArrived(plan: Plan, { chronicle }: DayParts, one: PurchaseEvidence): boolean {
  const { planned, orders, status } = one;
  const [own] = orders;
  const isPlain = orders.length === 1 && own?.id === status.orderId && !('demo-extra' in planned.items);
  const isDisturbed = isBroken(plan, one) || chronicle.touched.has(planned.name) || planned.answers.includes(410);
  return (
    BOUGHT.includes(status.state) &&
    isPlain &&
    !isDisturbed &&
    !planned.faults.some(({ commit }) => commit?.type === 'items')
  );
}

/** Keys of a refunded order are no longer among the keys that the partner has issued. */
function wasRefunded({ orders, planned }: PurchaseEvidence): boolean {
  return 'demo-complete-then-refunded' in planned.items || orders.some(({ status }) => status === 'REFUNDED');
}

/** Whether the last reconciliation names the purchase or one of its orders. */
function isReported(
  { chronicle }: DayParts,
  { referenceId, orders, events }: PurchaseEvidence,
  kind?: string,
): boolean {
  const findings = chronicle.reconciliations.at(-1)?.details ?? [];
  return (
    findings.some(
      (finding) =>
        (kind === undefined || finding.kind === kind) &&
        (finding.referenceId === referenceId || orders.some(({ id }) => finding.orderIds.includes(id))),
    ) || events.some(({ type, data }) => type === 'purchase.attention' && kind !== undefined && data.kind === kind)
  );
}

/** No key is delivered under two ids, whatever the checkout returned. */
function keysUnderOneId({ environment: { receiver } }: DayParts, one: PurchaseEvidence): string[] {
  const keys = receiver
    .attemptsOf(one.referenceId)
    .flatMap(({ body }) => (body.data.lines ?? []).flatMap((line) => line.keys ?? []));
  const idOf = new Map(keys.map(({ value, id }) => [value, id]));
  const twice = keys.filter(({ value, id }) => idOf.get(value) !== id).length;
  return twice > 0 ? [`keys under two ids: ${nameOf(one)}: ${twice} keys`] : [];
}

/** A purchase is held only when no program can know what to do. */
function waitsForSomething(plan: Plan, parts: DayParts, one: PurchaseEvidence): string[] {
  const { status, billable, requests, planned } = one;
  if (status.workflowStatus !== 'RUNNING') return [];
  const { hold } = status;
  if (!hold)
    return [`waits for nothing: ${nameOf(one)} is ${status.state}, ${JSON.stringify(status.pendingActivities)}`];
  const held = `held in vain: ${nameOf(one)}: ${hold.reason}, ${hold.explanation}`;
  if (parts.chronicle.touched.has(planned.name)) return [];
  if (hold.reason === 'PLACEMENT_UNKNOWN') {
    // An unreadable row gives no purchase an order, and it is reported.
    if (billable.length === 1) return isReported(parts, one, 'UNREADABLE') ? [] : [`${held}; its order is there`];
    return requests === 0 && plan.settings.replace !== 'never' && !intentionsOfTimedOut(one.history).includes(true)
      ? [`${held}; nothing was sent`]
      : [];
  }
  const mayBeHeld: Partial<Record<string, boolean>> = {
    MORE_KEYS_THAN_ORDERED: 'demo-extra' in planned.items,
    OTHER_ITEMS: planned.faults.some(({ commit }) => commit?.type === 'items'),
    DELIVERY_REFUSED: planned.answers.includes(410),
  };
  return mayBeHeld[hold.reason] ? [] : [held];
}

/** The server rejects the end of a workflow that has not seen a new event yet, such as a cancel request. */
const SEEN_TOO_LATE = 'UnhandledCommand';

/** A purchase that has ended is completed, and the checkout was notified. */
function ended(plan: Plan, one: PurchaseEvidence): string[] {
  const { status, planned, history } = one;
  const broken = history.flatMap(({ workflowTaskFailedEventAttributes: task }) =>
    task && !task.failure?.resetWorkflowFailureInfo && task.failure?.message ? [task.failure.message] : [],
  );
  const wrong = broken.filter((reason) => reason !== SEEN_TOO_LATE);
  const violations = wrong.map((reason) => `a workflow task failed: ${nameOf(one)}: ${reason}`);
  if (status.workflowStatus === 'RUNNING' || status.workflowStatus === 'COMPLETED') return violations;
  const terminated = plan.events.some(({ what }) => what.type === 'terminate' && what.of === planned.name);
  if (terminated && status.workflowStatus === 'TERMINATED') return violations;
  return [...violations, `a purchase failed: ${nameOf(one)} is ${status.workflowStatus}: ${status.failure}`];
}

function nameOf({ planned }: PurchaseEvidence): string {
  return planned.name;
}

/** This many keys stand for all of them, because the search takes time in proportion to their number. */
const MAX_KEYS = 25;

/**
 * Neither Temporal nor the output of the workers contains a key or a secret. test/security searches for more, in more
 * places.
 */
async function auditLeaks(
  { environment, workers }: DayParts,
  evidence: readonly PurchaseEvidence[],
): Promise<string[]> {
  const keys = evidence.flatMap(({ issued }) => issued).slice(0, MAX_KEYS);
  const canaries = [
    { name: 'the fingerprint secret', value: TEST_FINGERPRINT_SECRET },
    { name: 'the signing secret', value: TEST_SIGNING_SECRET },
    ...keys.map((value, at) => ({ name: `key ${at}`, value })),
  ];
  const texts: Evidence[] = [
    ...evidence.map(({ referenceId, history }) => ({ place: `history of ${referenceId}`, text: textOf(history) })),
    ...workers.output().map((text, at) => ({ place: `log ${at}`, text })),
  ];
  for await (const { raw, workflowId } of environment.client.workflow.list()) {
    texts.push({ place: `list: ${workflowId}`, text: textOf(raw) });
  }
  const leaks: string[] = [];
  for (const text of texts) {
    leaks.push(...inWords(findLeaks(canaries, [text])));
    // Other days share this process, and their partners must not respond late because of this one.
    await nextTurn();
  }
  return leaks.map((leak) => `a leak: ${leak}`);
}
