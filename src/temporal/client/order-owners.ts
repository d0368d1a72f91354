import type { Client } from '@temporalio/client';
import { PURCHASE_WORKFLOW } from '../../contracts/names';
import { PARTNER_ORDER_ID, REFERENCE_ID } from '../../contracts/search-attributes';
import { BETWEEN_LIST_QUERIES_MS } from './list-filters';
import { withinMs } from './within-ms';

/** Questions that come within so many ms of the first share one query. */
const SHARED_WITHIN_MS = 20;
/** A query of the longest ids is then about 10,000 characters. */
const MOST_IDS = 50;
/** Each reset makes another row of a purchase, so there may be more rows than orders. Where there are too many, each order is asked for alone. */
const MOST_ROWS = 1_000;
const MOST_OTHERS = 10;
/**
 * So long an answer is waited for, in ms. The poll of an order that has ended waits for it, and would else take longer than it may and
 * be repeated for as long as the lists hang: the SDK waits half a minute for them.
 */
const ANSWER_WITHIN_MS = 3_000;

/** Lists show an order within seconds after it was written. */
const REMEMBERED_MS = 60_000;
const MOST_REMEMBERED = 5_000;

interface Question {
  orderId: string;
  answer: (owners: readonly string[] | undefined) => void;
}

/**
 * Knows which purchases name an order as theirs: from Temporal's lists, where one query serves all who ask at about the same time,
 * and, because lists lag, from what this process has seen within the last minute.
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

  /** The references of other purchases with the order, ten at most. Empty where lists can't be read, or not within 3 s. */
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

  /** @returns undefined where it has to be asked for alone. */
  private listed(orderId: string): Promise<readonly string[] | undefined> {
    return new Promise((answer) => {
      this.waiting.push({ orderId, answer });
      if (this.waiting.length >= MOST_IDS) this.ask();
      else this.timer ??= setTimeout(() => this.ask(), this.untilNextQuery());
    });
  }

  private untilNextQuery(): number {
    const sinceLast = Math.max(0, this.now() - this.askedAt);
    // A query that the server refuses shows no owner.
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

/** @returns undefined where there are too many rows. */
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
