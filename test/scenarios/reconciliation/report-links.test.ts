import { readFileSync } from 'node:fs';
import type { ReconciliationReport } from '../../../src/report';
import { TEST_UI_URL } from '../../support/settings';
import { startReconciliationEnvironment } from '../../support/test-environment';

it('a report links to its own run in the Temporal UI, where the details say how many findings need attention', async () => {
  const env = await startReconciliationEnvironment();
  await env.orderByHand({ 'demo-instant': 1 }, 'by phone');

  const { report } = await env.reconcile();

  const json = JSON.parse(readFileSync(report.replace(/html$/, 'json'), 'utf8')) as ReconciliationReport;
  const workflowsUrl = `${TEST_UI_URL}/namespaces/${env.namespace}/workflows`;
  expect(json).toMatchObject({ workflowsUrl, findings: [{ kind: 'ORPHAN', done: 'unrepaired' }] });
  expect(readFileSync(report, 'utf8')).toContain(`href="${workflowsUrl}/${json.workflowId}/${json.runId}"`);
  const { currentDetails } = await env.client.workflow
    .getHandle(json.workflowId, json.runId)
    .query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toContain('**DONE**: 0 repaired, 1 needs attention. 1 order was compared.');
});
