import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ensureBuild } from '../../scripts/lib/build.mjs';
import { ensureTemporalCli } from '../../scripts/lib/temporal-cli.mjs';
import { openBrowser } from './browser.mjs';

/*
 * Takes the pictures in the documents again, in a real browser: the Temporal UI with real purchases, and the report of a real
 * reconciliation.
 *
 *     node docs/screenshots/take.mjs
 *
 * It needs Chromium: the variable CHROMIUM names the program, otherwise it runs `chromium` from the PATH. It takes about three
 * minutes. Look at the pictures before you commit them. None should be larger than 150 kB.
 */

const HOUR_MS = 3_600_000;

const cli = await ensureTemporalCli();
await ensureBuild();
const { startEnvironment } = await import('../../demo/dist/demo/environment.js');
const { DEFAULT_TASK_QUEUE } = await import('../../demo/dist/src/contracts/names.js');
const { reconcileNow } = await import('../../demo/dist/src/starter/reconciliation.js');
const environment = await startEnvironment(cli, console.log);
const browser = await openBrowser(new URL('../images/', import.meta.url));
try {
  await takeAll(environment, browser);
} finally {
  try {
    await browser.close();
  } finally {
    await environment.close();
  }
}

/** The sandbox runs 30 times faster: an order of 20 minutes takes 40 seconds, and the deadline is 50 seconds. */
async function takeAll({ starter, sandbox, temporal }, { take }) {
  sandbox.addPastOrders({ count: 3 });
  sandbox.addFault({ operation: 'place', referenceId: 'SALE-3', when: 'before', action: { type: 'close' } });
  const products = {
    'SALE-1': 'demo-slow',
    'SALE-2': 'demo-never',
    'SALE-3': 'demo-instant',
    'SALE-4': 'demo-instant',
    'SALE-5': 'demo-late',
    'SALE-6': 'demo-seconds',
  };
  for (const [referenceId, productId] of Object.entries(products)) {
    await starter.purchase({ referenceId, items: [{ productId, quantity: 2 }] });
  }
  const metadata = { tab: 'user-metadata', shows: 'Current Details', height: 720 };
  const picture = async (name, referenceId, { tab, shows, height }) => {
    const { workflowId, runId } = await starter.status(referenceId);
    const url = `${temporal.uiUrl}/namespaces/default/workflows/${workflowId}/${runId}/${tab}`;
    await take(name, url, { shows, width: 1_280, height });
  };

  await until(starter, 'SALE-2', 'PENDING');
  await picture('purchase-pending', 'SALE-2', metadata);
  await until(starter, 'SALE-3', 'HELD');
  await picture('purchase-held', 'SALE-3', metadata);
  await until(starter, 'SALE-1', 'DELIVERED');
  await picture('purchase-in-the-ui', 'SALE-1', { tab: 'history', shows: 'deliverSale', height: 1_000 });
  await until(starter, 'SALE-2', 'OVERDUE');
  await picture('purchase-overdue', 'SALE-2', metadata);

  await until(starter, 'SALE-5', 'OVERDUE');
  const report = await reportOfTheNight({ starter, sandbox, temporal });
  await take('reconciliation-report', pathToFileURL(report), {
    shows: 'What was repaired',
    width: 1_280,
    height: 1_000,
  });
}

/**
 * Makes the records differ, then reconciles.
 *
 * @returns the path of the report
 */
async function reportOfTheNight({ starter, sandbox, temporal }) {
  const createdAt = new Date(Date.now() - HOUR_MS).toISOString();
  const items = [{ id: 'demo-instant', quantity: 2 }];
  await sandbox.placeManualOrder({ referenceId: 'BY-HAND-1', items, createdAt });
  await sandbox.placeManualOrder({ referenceId: 'SALE-4', items });
  await sandbox.changeOrder((await starter.status('SALE-6')).orderId, { status: 'REFUNDED' });
  sandbox.advance(HOUR_MS);
  // A reconciliation leaves the youngest records to the next one.
  await sleep(20_000);
  return (await reconcileNow(temporal.client, DEFAULT_TASK_QUEUE)).report;
}

async function until(starter, referenceId, state) {
  for (;;) {
    const now = await starter.status(referenceId);
    if (now.state === state) return;
    if (now.endedAt)
      throw new Error(`${referenceId} ended as ${now.state}, expected ${state}: run it again on an idle machine`);
    await sleep(500);
  }
}
