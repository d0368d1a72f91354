import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { purchaseWorkflowId } from '../../../src/contracts/names';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index';
import { createStarter, type Starter } from '../../../src/starter';
import { type Received, type Reply, type ScriptedServer, startServer } from '../../support/http-server';
import { type HostilePartner, startHostilePartner, type Twist } from './hostile-partner';
import type { Canary } from './search';

const webhookSecret = (text: string) => `whsec_${Buffer.from(text).toString('base64')}`;

/** Secrets that are easy to recognise and hard to quote: quotes, backslashes, what URLs and base64 escape. */
export const SECRETS = {
  PARTNER_API_KEY: 'Cnry/api"key\\7Qm2+Zx9%Vt4&<w>',
  DELIVERY_SECRET: [webhookSecret('Cnry-newest-webhook-?>~-8Kd3Rf'), webhookSecret('Cnry-older-webhook-?>~-5Jh9Bn1')],
  FINGERPRINT_SECRET: ['Cnry-newest-fingerprint-secret/"+\\-4Lw8', 'Cnry-older-fingerprint-secret/"+\\-6Yp2c'],
  TEMPORAL_API_KEY: 'Cnry.temporal.api.key.9Gs3Xb',
};

/** The secrets of a worker's environment; of a webhook's also the text that its base64 stands for. */
export function secretCanaries(): Canary[] {
  return Object.entries(SECRETS).flatMap(([name, values]) =>
    [values]
      .flat()
      .flatMap((value) => [
        { name, value },
        ...(value.startsWith('whsec_') ? [{ name: `${name}, decoded`, value: decoded(value) }] : []),
      ]),
  );
}

function decoded(secret: string): string {
  return Buffer.from(secret.slice('whsec_'.length), 'base64').toString();
}

/** What the checkout does with the nth attempt to deliver something of a purchase; undefined: 204. */
export type Checkout = (request: Received, nth: number) => Reply | undefined;

/** Real servers around workers that the test starts: Temporal, a partner and a checkout that mean no good. */
export interface Stage {
  client: Client;
  sandbox: Sandbox;
  partner: HostilePartner;
  starter: Starter;
  taskQueue: string;
  /** The environment of a worker; secrets in it as variables. */
  env: Record<string, string>;
  /** The bodies that the checkout has taken, as text. */
  taken: string[];
  /** Starts a purchase. @returns its reference */
  buy(purchase: { name: string; items?: Record<string, number>; twist?: Twist; checkout?: Checkout }): Promise<string>;
  untilState(referenceId: string, state: string): Promise<void>;
  /** Decides on a purchase that is held. */
  resolve(referenceId: string, decision: string): Promise<void>;
  /** The values of every key that the partner has issued. */
  issuedKeys(): Promise<string[]>;
  close(): Promise<void>;
}

export async function startStage(address: string): Promise<Stage> {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  const taskQueue = `leaks-${randomUUID()}`;
  // Two sandboxes of one seed give out the same order ids, and the suites share one Temporal server.
  const sandbox = await startSandbox({ seed: taskQueue, apiKeys: [SECRETS.PARTNER_API_KEY], perLookMs: 30_000 });
  const partner = await startHostilePartner(sandbox);
  const checkouts = new Map<string, Checkout>();
  const taken: string[] = [];
  const checkout = await startCheckout(checkouts, taken);
  const starter = createStarter(client, { taskQueue });
  return {
    ...{ client, sandbox, partner, starter, taskQueue, taken },
    env: environmentOf(address, taskQueue, partner, checkout),
    async buy({ name, items = { 'demo-instant': 1 }, twist, checkout: manners }) {
      const referenceId = `${name}-${taskQueue.slice(6, 14)}`;
      if (twist) partner.twist(referenceId, twist);
      if (manners) checkouts.set(referenceId, manners);
      const bought = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
      await starter.purchase({ referenceId, items: bought });
      return referenceId;
    },
    async untilState(referenceId, state) {
      while ((await starter.status(referenceId)).state !== state) await new Promise((wake) => setTimeout(wake, 50));
    },
    async resolve(referenceId, decision) {
      const { hold } = await starter.status(referenceId);
      const handle = client.workflow.getHandle(purchaseWorkflowId(referenceId));
      await handle.executeUpdate('resolve', { args: [{ hold: hold?.id, decision }] });
    },
    async issuedKeys() {
      const { references } = await sandbox.ledger({ keys: true });
      const items = references.flatMap(({ orders }) => orders.flatMap((order) => order.items));
      return items.flatMap((item) => item.keys ?? []).map((key) => key.value);
    },
    async close() {
      await Promise.all([partner.close(), sandbox.close(), checkout.close(), connection.close()]);
    },
  };
}

function environmentOf(
  address: string,
  taskQueue: string,
  partner: HostilePartner,
  checkout: ScriptedServer,
): Record<string, string> {
  return {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_TASK_QUEUE: taskQueue,
    TEMPORAL_API_KEY: SECRETS.TEMPORAL_API_KEY,
    TEMPORAL_TLS: 'false',
    PARTNER_BASE_URL: partner.url,
    PARTNER_API_KEY: SECRETS.PARTNER_API_KEY,
    PARTNER_TIMEOUT: '2s',
    PURCHASE_FIRST_POLL: '50ms',
    PURCHASE_POLL_INTERVAL: '100ms',
    PURCHASE_DEADLINE: '5m',
    PURCHASE_SETTLE: '1s',
    // A machine that is too busy for a placement must not leave a purchase to people whom the test does not play.
    PURCHASE_REPLACE: 'always',
    PURCHASE_PLACE_WITHIN: '2m',
    FINGERPRINT_SECRET: SECRETS.FINGERPRINT_SECRET.join(' '),
    DELIVERY_URL: `${checkout.url}/events`,
    DELIVERY_SECRET: SECRETS.DELIVERY_SECRET.join(' '),
    DELIVERY_TIMEOUT: '1s',
  };
}

function startCheckout(checkouts: Map<string, Checkout>, taken: string[]): Promise<ScriptedServer> {
  const attempts = new Map<string, number>();
  return startServer({
    respond(request) {
      const body = request.body.toString();
      const { referenceId } = (JSON.parse(body) as { data: { referenceId: string } }).data;
      const nth = (attempts.get(referenceId) ?? 0) + 1;
      attempts.set(referenceId, nth);
      const reply = checkouts.get(referenceId)?.(request, nth);
      if (reply === undefined) taken.push(body);
      return reply ?? { status: 204 };
    },
  });
}
