import { listOrders, listProducts } from '../../../src/cli/partner-commands';
import { type Output, showReconciliation, showRedelivery, showStarted, showStatus } from '../../../src/cli/output';
import type { PurchaseResult } from '../../../src/contracts/purchase';
import { startServer } from '../../support/http-server';
import { clientOf, envelope, historyRow, productRow } from '../partner/fixtures';

/** It clears the screen, moves up a line, forges a row, and turns the direction of writing. */
const HOSTILE = 'a\u001B[2J\u009B1A\nb\r2026-01-01 forged\u2028c\u202Ed';
const CLEAN = 'a [2J 1A b 2026-01-01 forged c d';

describe('what the partner writes reaches a terminal as text, each row on its one line: it may be the evidence for a second order', () => {
  let printed = '';
  const out: Output = { json: false, write: (text) => void (printed += text), note: () => undefined };
  beforeEach(() => (printed = ''));

  /** A partner whose every list is one page of these rows. */
  async function partnerWith(rows: { orders: unknown[] } | { products: unknown[] }) {
    const server = await startServer();
    server.script({ json: envelope({ hits: 2, ...rows, pages: { page: 1, total: 1, limit: 50 } }) });
    return clientOf(server.url);
  }

  function expectLines(count: number): void {
    const lines = printed.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines).toHaveLength(count);
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }

  it.each([false, true])('the catalogue (all pages: %s)', async (all) => {
    const row = productRow(HOSTILE, { title: HOSTILE, currency: HOSTILE });
    await listProducts(await partnerWith({ products: [row, productRow('p-2')] }), out, { all });
    expectLines(all ? 2 : 3);
    expect(printed.split(CLEAN)).toHaveLength(4);
  });

  it.each([false, true])('the order history (all pages: %s)', async (all) => {
    const item = { id: 'p', title: HOSTILE, quantity: 1, amount: 1 };
    const more = { reference_id: HOSTILE, status: HOSTILE, item };
    const rows = [historyRow(HOSTILE, more), historyRow(`${HOSTILE}2`, { ...more, status: 7 })];
    await listOrders(await partnerWith({ orders: rows }), out, { all });
    expectLines(all ? 2 : 3);
    expect(printed.split(CLEAN)).toHaveLength(7);
  });

  it('a JSON document shows no digest of a row that can not be read, which may be that of a key', async () => {
    const json = { ...out, json: true };
    await listProducts(await partnerWith({ products: [productRow('p-1', { price: 'KEY' })] }), json, {});
    await listOrders(await partnerWith({ orders: [historyRow('o-1', { status: 7 })] }), json, {});
    expect(printed).toContain('problems');
    expect(printed).not.toContain('digest');
  });

  it('the result of a purchase', () => {
    const lines = [{ productId: 'p', title: HOSTILE, quantity: 1, delivered: 0 }];
    const result: PurchaseResult = { referenceId: 'R', outcome: 'ABANDONED', lines, reason: `it holds ${HOSTILE}` };
    showStarted(out, { referenceId: 'R', workflowId: 'purchase-R', runId: 'r', started: true }, result);
    expectLines(3);
  });

  it('what a reconciliation has found, its advice too', () => {
    const text = { orderIds: [HOSTILE], explanation: HOSTILE, advice: HOSTILE, note: HOSTILE };
    const finding = { ...text, kind: 'LOST' as const, amounts: {}, done: 'unrepaired' as const };
    const counts = { orders: 1, findings: { LOST: 1 }, repaired: 0, report: 'report.html' };
    showReconciliation(out, { from: 'then', to: 'now', details: [finding], ...counts });
    expectLines(5);
    expect(printed.split(CLEAN)).toHaveLength(5);
  });

  it('why a redelivery keeps new keys back', () => {
    const order = { id: 'O-1', status: 'COMPLETED', issue: `it holds ${HOSTILE}` };
    showRedelivery(out, { referenceId: 'R', workflowId: 'deliver-R', events: [], order });
    expectLines(2);
  });

  it('the last answer of what a purchase is doing, and why it has no result', () => {
    const work = { activity: 'getOrder', activityId: '1', attempt: 2, lastAnswer: HOSTILE };
    const known = { referenceId: 'R', workflowId: 'purchase-R', runId: 'r', state: 'FAILED', execution: 'FAILED' };
    const times = { startedAt: 'then', taskQueue: 'q', deliveries: [] };
    showStatus(out, { ...known, ...times, pending: [work], failure: HOSTILE });
    expectLines(6);
  });
});
