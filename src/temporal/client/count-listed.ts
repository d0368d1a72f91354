import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { BETWEEN_LIST_QUERIES_MS } from './list-filters';

const YOUNGEST_MS = 1_000;
const OLDEST_MS = 400 * 24 * 3_600_000;
/** They narrow the range above to 2 %. */
const HALVINGS = 10;

/** Counts the workflows of a list filter. Lists lag by about a second. @throws ServiceError */
export async function countListed(client: Client, filter: string): Promise<number> {
  await sleep(BETWEEN_LIST_QUERIES_MS);
  return (await client.workflow.count(filter)).count;
}

/**
 * How long ago the oldest workflow of a list filter was started, in ms, within 2 %. The server sorts no list, so ten counts halve
 * the range of possible ages, on a logarithmic scale.
 *
 * @param now epoch ms. @throws ServiceError
 */
export async function oldestAge(client: Client, filter: string, now: number): Promise<number> {
  let [younger, older] = [YOUNGEST_MS, OLDEST_MS];
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = Math.sqrt(younger * older);
    const startedBefore = new Date(now - middle).toISOString();
    if ((await countListed(client, `${filter} AND StartTime < '${startedBefore}'`)) > 0) younger = middle;
    else older = middle;
  }
  return younger;
}
