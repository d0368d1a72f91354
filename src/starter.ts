#!/usr/bin/env node
import { readPartnerConfig, readScheduleConfig, readStarterConfig } from './config';
import { createPartnerClient } from './partner';
import { runStarter } from './starter/command-line';
import { A_MINUTE_OF_TRIES, connectClient, readTemporalTarget } from './temporal/connection';
import { leaveWith } from './temporal/exit';

export type { DecisionChoice } from './starter/decisions';
export * from './starter/errors';
export { createStarter, type StartedPurchase, type Starter, type StarterOptions } from './starter/purchases';
export type { Redelivery } from './starter/redelivering';
export { reconcileNow, ReconciliationError } from './starter/reconciliation';
export {
  createScheduleKeeper,
  type NightlySchedule,
  ScheduleError,
  type ScheduleKeeper,
  type ScheduleSettings,
} from './starter/schedule';
export type { Resolution } from './starter/resolving';
export type { DeliveryStatus, PendingWork, PurchaseStatus } from './starter/status';
export type { ReconcileInput, ReconciliationResult, TreatedFinding } from './contracts/reconciliation';
export type { HoldNotice, PurchaseInput, PurchaseItem, PurchaseLine, PurchaseResult } from './contracts/purchase';

async function main(): Promise<void> {
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  // A reader such as `head` may have seen enough.
  process.stdout.on('error', () => leaveWith(0));
  const exitCode = await runStarter(process.argv, {
    exitCode: 0,
    out: { json: false, write: (text) => void process.stdout.write(text), note },
    partner: () => createPartnerClient(readPartnerConfig()),
    schedule: () => readScheduleConfig(),
    temporal: async () => {
      const { taskQueue } = readStarterConfig();
      return { taskQueue, client: await connectClient(readTemporalTarget(), { ...A_MINUTE_OF_TRIES, onRetry: note }) };
    },
  });
  leaveWith(exitCode);
}

if (require.main === module) void main();
