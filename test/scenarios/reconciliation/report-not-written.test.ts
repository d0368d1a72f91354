import { join } from 'node:path';
import { startReconciliationEnvironment } from '../../support/test-environment';

it('a report that cannot be written loses no finding and is not retried for hours: the run ends at once and says why', async () => {
  // A file in the place of the folder also stops a user with all permissions.
  const env = await startReconciliationEnvironment({ reportDir: join(__filename, 'reports') });
  await env.orderByHand({ 'demo-instant': 1 }, 'by phone');

  const result = await env.reconcile();

  expect(result).toMatchObject({
    findings: { ORPHAN: 1 },
    report: "not written: REPORT_DIR can't be written (ENOTDIR)",
  });
  expect(env.sandbox.requests().orders).toBeLessThanOrEqual(2);
});
