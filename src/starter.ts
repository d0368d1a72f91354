#!/usr/bin/env node
import { readPartnerConfig, readStarterConfig } from './config';
import { createPartnerClient } from './partner';
import { runStarter } from './starter/command-line';
import { connectClient, readTemporalTarget } from './temporal/connection';

export * from './starter/errors';
export { createStarter, type StartedPurchase, type Starter } from './starter/purchases';
export type { DeliveryStatus, PendingWork, PurchaseStatus } from './starter/status';
export type { PurchaseInput, PurchaseItem, PurchaseLine, PurchaseResult } from './contracts/purchase';

const A_MINUTE_OF_TRIES = { tries: 12, pauseMs: 5_000 };

function main(): Promise<void> {
  const note = (text: string) => process.stderr.write(`${text}\n`);
  return runStarter(process.argv, {
    out: { json: false, write: (text) => process.stdout.write(text), note },
    partner: () => createPartnerClient(readPartnerConfig()),
    temporal: async () => {
      const { taskQueue } = readStarterConfig();
      return { taskQueue, client: await connectClient(readTemporalTarget(), { ...A_MINUTE_OF_TRIES, onRetry: note }) };
    },
  });
}

if (require.main === module) void main();
