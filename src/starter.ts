#!/usr/bin/env node
import { readPartnerConfig, readScheduleConfig, readStarterConfig } from './config';
import { createPartnerClient } from './partner';
import { runStarter } from './cli/command-line';
import { connectClient, readTemporalTarget } from './temporal/client';
import { flushAndExit } from './exit';
import { connectRetry } from './workflows/policies';

export type { DecisionChoice } from './starter/decisions';
export * from './starter/errors';
export { createStarter, type StartedPurchase, type Starter, type StarterOptions } from './starter/purchases';
export type { Redelivery } from './starter/redeliver';
export { reconcileNow, ReconciliationError } from './starter/reconciliation';
export {
  createScheduleManager as createScheduleKeeper,
  type NightlySchedule,
  ScheduleError,
  type ScheduleManager as ScheduleKeeper,
  type ScheduleSettings,
} from './starter/schedule';
export type { Resolution } from './starter/resolve';
export type { DeliveryStatus, PendingWork, PurchaseStatus } from './starter/status';
export type { ReconcileInput, ReconciliationResult, ReportedFinding } from './contracts/reconciliation';
export type { HoldNotice, PurchaseInput, PurchaseItem, PurchaseLine, PurchaseResult } from './contracts/purchase';

async function main(): Promise<void> {
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  // A reader such as `head` may have seen enough.
  process.stdout.on('error', () => flushAndExit(0));
  const exitCode = await runStarter(process.argv, {
    exitCode: 0,
    out: { json: false, write: (text) => void process.stdout.write(text), note },
    partner: () => createPartnerClient(readPartnerConfig()),
    schedule: () => readScheduleConfig(),
    temporal: async () => {
      const { taskQueue } = readStarterConfig();
      return {
        taskQueue,
        client: await connectClient(readTemporalTarget(), { ...connectRetry, onRetry: note }),
      };
    },
  });
  flushAndExit(exitCode);
}

if (require.main === module) void main();
