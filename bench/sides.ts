import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { DEFAULT_TASK_QUEUE, PURCHASE_WORKFLOW, purchaseWorkflowId } from '../src/contracts/names';
import { createStarter } from '../src/starter/create-starter';
import type { Input } from './baseline/workflows';
import { projectRoot } from './paths';

export type SideName = 'baseline' | 'ours' | 'history';

/** When a purchase polls its order. */
export interface Polling {
  /** From placement to first poll, ms; 0 polls at once. */
  firstPollMs: number;
  pollIntervalMs: number;
}

/** The addresses that a worker needs. */
export interface Addresses {
  temporal: string;
  partner: string;
  checkout: string;
  /** A temporary folder of this run. */
  folder: string;
}

/** One of the compared workers, and how a checkout starts a purchase with it. */
export interface Side {
  name: SideName;
  script: string;
  taskQueue: string;
  workflowType: string;
  workerEnv(addresses: Addresses, polling: Polling): Record<string, string>;
  workflowId(referenceId: string): string;
  /** Starts a purchase of one unit. */
  start(client: Client, referenceId: string, productId: string, polling: Polling): Promise<unknown>;
}

const baseline: Side = {
  name: 'baseline',
  script: join(__dirname, 'baseline/worker.js'),
  taskQueue: 'baseline',
  workflowType: 'purchase',
  workerEnv: ({ temporal, partner, checkout }) => ({
    TEMPORAL_ADDRESS: temporal,
    PARTNER_BASE_URL: partner,
    PARTNER_API_KEY: 'sandbox-key',
    DELIVERY_URL: checkout,
  }),
  workflowId: (referenceId) => referenceId,
  start(client, referenceId, productId, { firstPollMs, pollIntervalMs }) {
    const input: Input = { referenceId, items: [{ productId, quantity: 1 }], firstPollMs, pollIntervalMs };
    return client.workflow.start('purchase', { workflowId: referenceId, taskQueue: 'baseline', args: [input] });
  },
};

/** Shared by all workers of a run, because a later worker needs the same secret to compute the key ids. */
const fingerprintSecret = randomBytes(32).toString('hex');

/** As users run it: the required variables, the scenario's polling, and free ports. */
const ours: Side = {
  name: 'ours',
  script: join(projectRoot, 'dist/worker.js'),
  taskQueue: DEFAULT_TASK_QUEUE,
  workflowType: PURCHASE_WORKFLOW,
  workerEnv: ({ temporal, partner, checkout, folder }, { firstPollMs, pollIntervalMs }) => ({
    TEMPORAL_ADDRESS: temporal,
    PARTNER_BASE_URL: partner,
    PARTNER_API_KEY: 'sandbox-key',
    DELIVERY_URL: checkout,
    DELIVERY_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    FINGERPRINT_SECRET: fingerprintSecret,
    PURCHASE_FIRST_POLL: `${firstPollMs}ms`,
    PURCHASE_POLL_INTERVAL: `${pollIntervalMs}ms`,
    REPORT_DIR: join(folder, 'reports'),
    HEALTH_ADDRESS: '127.0.0.1:0',
    METRICS_ADDRESS: '127.0.0.1:0',
  }),
  workflowId: purchaseWorkflowId,
  start: (client, referenceId, productId) =>
    createStarter(client).purchase({ referenceId, items: [{ productId, quantity: 1 }] }),
};

const history: Side = {
  ...ours,
  name: 'history',
  workerEnv: (addresses, polling) => ({ ...ours.workerEnv(addresses, polling), PURCHASE_WATCH: 'history' }),
};

export const SIDES: Record<SideName, Side> = { baseline, ours, history };
