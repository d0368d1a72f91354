import type { Client } from '@temporalio/client';
import { PURCHASE_WORKFLOW } from '../../contracts/names';
import { PARTNER_ORDER_ID, REFERENCE_ID } from '../../contracts/search-attributes';
import { BETWEEN_LIST_QUERIES_MS } from './list-filters';
import { withinMs } from './within-ms';

/** Questions within this time of the first share one query. */
const SHARED_WITHIN_MS = 20;
/** A query of the longest ids is then about 10,000 characters. */
const MOST_IDS = 50;
/** Each reset adds a row to a purchase, so there may be more rows than orders. Beyond this, each order has its own query. */
const MOST_ROWS = 1_000;
const MOST_OTHERS = 10;
/** How long an answer may take. The poll of an ended order waits for it and must not time out when lists hang (30 s in the SDK). */
const ANSWER_WITHIN_MS = 3_000;

/** Lists show an order within seconds after it was written. */
const REMEMBERED_MS = 60_000;
const MOST_REMEMBERED = 5_000;

interface Question {
  orderId: string;
  answer: (owners: readonly string[] | undefined) => void;
}

/**
 * Knows which purchases name an order as theirs: from Temporal's lists, with one query for all questions at about the same time.
 * Because lists lag, this process also remembers what it has seen within the last minute.
 */
export class OrderOwners {
  /** The latest order of each reference, oldest first. */
  private readonly recent = new Map<string, { orderId: string; at: number }>();
  private waiting: Question[] = [];
  private timer: NodeJS.Timeout | undefined;
  private askedAt = -Infinity;

  constructor(
    private readonly client: Client,
    private readonly now: () => number = Date.now,
  ) {}

  /** Notes that a purchase has this order and no other. */
  note(orderId: string, referenceId: string): void {
    this.recent.delete(referenceId);
    this.recent.set(referenceId, { orderId, at: this.now() });
    for (const [oldest, { at }] of this.recent) {
      if (this.recent.size <= MOST_REMEMBERED && this.now() - at <= REMEMBERED_MS) break;
      this.recent.delete(oldest);
    }
  }

  /** The references of other purchases with the order, at most ten. Empty if lists can't be read within 3 s. */
  async others(orderId: string, referenceId: string): Promise<string[]> {
    const seen = this.seenHere(orderId).filter((owner) => owner !== referenceId);
    if (seen.length > 0) return seen.slice(0, MOST_OTHERS);
    const others = await withinMs(ANSWER_WITHIN_MS, this.listedOthers(orderId, referenceId)).catch(() => undefined);
    return others ?? [];
  }

  private async listedOthers(orderId: string, referenceId: string): Promise<string[]> {
    const listed = await this.listed(orderId);
    if (!listed) return listOthers(this.client, orderId, referenceId);
    return listed.filter((owner) => owner !== referenceId).slice(0, MOST_OTHERS);
  }

  private seenHere(orderId: string): string[] {
    const since = this.now() - REMEMBERED_MS;
    return [...this.recent].filter(([, one]) => one.orderId === orderId && one.at >= since).map(([owner]) => owner);
  }

  /** @returns undefined if the order needs a query of its own. */
  private listed(orderId: string): Promise<readonly string[] | undefined> {
    return new Promise((answer) => {
      this.waiting.push({ orderId, answer });
      if (this.waiting.length >= MOST_IDS) this.ask();
      else this.timer ??= setTimeout(() => this.ask(), this.untilNextQuery());
    });
  }

  private untilNextQuery(): number {
    const sinceLast = Math.max(0, this.now() - this.askedAt);
    // The server refuses queries that come too fast, and then there would be no owner.
    return Math.max(SHARED_WITHIN_MS, BETWEEN_LIST_QUERIES_MS - sinceLast);
  }

  private ask(): void {
    this.askedAt = this.now();
    clearTimeout(this.timer);
    this.timer = undefined;
    const questions = this.waiting;
    this.waiting = [];
    const ids = [...new Set(questions.map(({ orderId }) => orderId))];
    const unknown = new Map<string, string[]>();
    const asked = listOwners(this.client, ids).catch(() => unknown);
    void asked.then((owners) => {
      for (const { orderId, answer } of questions) answer(owners && (owners.get(orderId) ?? []));
    });
  }
}

/** @returns undefined if there are too many rows. */
async function listOwners(client: Client, orderIds: readonly string[]): Promise<Map<string, string[]> | undefined> {
  const ids = orderIds.map((id) => `'${id}'`).join(', ');
  const query = `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${PARTNER_ORDER_ID.name} IN (${ids})`;
  const owners = new Map<string, string[]>();
  let rows = 0;
  for await (const { typedSearchAttributes: attributes } of client.workflow.list({ query, pageSize: MOST_ROWS })) {
    if (++rows > MOST_ROWS) return undefined;
    const [orderId, owner] = [attributes.get(PARTNER_ORDER_ID), attributes.get(REFERENCE_ID)];
    if (orderId !== undefined && owner !== undefined) owners.set(orderId, [...(owners.get(orderId) ?? []), owner]);
  }
  return owners;
}

async function listOthers(client: Client, orderId: string, referenceId: string): Promise<string[]> {
  const same = `${PARTNER_ORDER_ID.name} = '${orderId}' AND ${REFERENCE_ID.name} != '${referenceId}'`;
  const query = `WorkflowType = '${PURCHASE_WORKFLOW}' AND ${same}`;
  const found: string[] = [];
  for await (const { typedSearchAttributes } of client.workflow.list({ query, pageSize: MOST_OTHERS })) {
    const other = typedSearchAttributes.get(REFERENCE_ID);
    if (other !== undefined) found.push(other);
    if (found.length >= MOST_OTHERS) break;
  }
  return found;
}
