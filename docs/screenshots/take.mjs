import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuild } from '../../scripts/lib/build.mjs';
import { ensureTemporalCli } from '../../scripts/lib/temporal-cli.mjs';
import { openBrowser } from './browser.mjs';

/*
 * Takes the pictures of the Temporal UI in the documents again, of real purchases in a real browser:
 *
 *     node docs/screenshots/take.mjs
 *
 * It needs a Chromium: the variable CHROMIUM names it, else `chromium` of the PATH is used. It takes about two minutes. Look at
 * the pictures before you commit them, and see that none is larger than 150 kB.
 */

const cli = await ensureTemporalCli();
await ensureBuild();
const { startEnvironment } = await import('../../demo/dist/demo/environment.js');
const environment = await startEnvironment(cli, console.log);
const browser = await openBrowser(new URL('../images/', import.meta.url));
try {
  await takeAll(environment, browser);
} finally {
  await browser.close();
  await environment.close();
}

/** The clock is 30 times as fast: an order of 20 minutes takes 40 seconds, and the deadline is 50. */
async function takeAll({ starter, sandbox, temporal }, { take }) {
  sandbox.addPastOrders({ count: 3 });
  sandbox.addFault({ operation: 'place', referenceId: 'SALE-3', when: 'before', action: { type: 'close' } });
  const products = { 'SALE-1': 'demo-slow', 'SALE-2': 'demo-never', 'SALE-3': 'demo-instant' };
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
}

async function until(starter, referenceId, state) {
  while ((await starter.status(referenceId)).state !== state) await sleep(500);
}
