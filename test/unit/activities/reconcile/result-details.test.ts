import { detailsOf } from '../../../../src/activities/reconcile';
import type { ReportedFinding } from '../../../../src/contracts/reconciliation';

function finding(orderIds: string[]): ReportedFinding {
  return { kind: 'ORPHAN', orderIds, amounts: {}, explanation: 'x'.repeat(400), advice: '', done: 'unrepaired' };
}

it('a result contains the first findings that fit its size in bytes, even if one finding names thousands of orders', () => {
  const ids = Array.from({ length: 5_000 }, (_, at) => `${at}`.padEnd(200, 'é'));
  const details = detailsOf(Array.from({ length: 300 }, () => finding(ids)));
  expect(details.length).toBeGreaterThan(10);
  expect(Buffer.byteLength(JSON.stringify(details))).toBeLessThan(300 * 1024);
  expect(details[0]!.orderIds).toEqual(ids.slice(0, 20));
  expect(detailsOf(Array.from({ length: 300 }, () => finding(['o-1'])))).toHaveLength(200);
});
