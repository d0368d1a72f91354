import { listOrders, listProducts } from '../../../src/cli/partner-commands';
import {
  type Output,
  showList,
  showReconciliation,
  showRedelivery,
  showStarted,
  showStatus,
} from '../../../src/cli/output';
import type { PurchaseResult } from '../../../src/contracts/purchase';
import type { CurrentState, ListedPurchase, PurchaseStatus } from '../../../src/starter/index';
import { startServer } from '../../support/http-server';
import { clientOf, envelope, historyRow, productRow } from '../partner/fixtures';

/** It clears the screen, moves up a line, forges a row, and turns the direction of writing. */
const HOSTILE = 'a\u001B[2J\u009B1A\nb\r2026-01-01 forged\u2028c\u202Ed';
const CLEAN = 'a [2J 1A b 2026-01-01 forged c d';

describe('outside text is printed as plain text, each row on one line, because it may be the evidence for a second order', () => {
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

  it.each([false, true])('in the catalogue (all pages: %s)', async (all) => {
    const row = productRow(HOSTILE, { title: HOSTILE, currency: HOSTILE });
    await listProducts(await partnerWith({ products: [row, productRow('p-2')] }), out, { all });
    expectLines(all ? 2 : 3);
    expect(printed.split(CLEAN)).toHaveLength(4);
  });

  it.each([false, true])('in the order history (all pages: %s)', async (all) => {
    const item = { id: 'p', title: HOSTILE, quantity: 1, amount: 1 };
    const more = { reference_id: HOSTILE, status: HOSTILE, item };
    const rows = [historyRow(HOSTILE, more), historyRow(`${HOSTILE}2`, { ...more, status: 7 })];
    await listOrders(await partnerWith({ orders: rows }), out, { all });
    expectLines(all ? 2 : 3);
    expect(printed.split(CLEAN)).toHaveLength(7);
  });

  it('and JSON shows no digest of an unreadable row, which may be the digest of a key', async () => {
    const json = { ...out, json: true };
    await listProducts(await partnerWith({ products: [productRow('p-1', { price: 'KEY' })] }), json, {});
    await listOrders(await partnerWith({ orders: [historyRow('o-1', { status: 7 })] }), json, {});
    expect(printed).toContain('problems');
    expect(printed).not.toContain('digest');
  });

  it('in the result of a purchase', () => {
    const lines = [{ productId: 'p', title: HOSTILE, quantity: 1, delivered: 0 }];
    const result: PurchaseResult = { referenceId: 'R', outcome: 'ABANDONED', lines, reason: `it holds ${HOSTILE}` };
    showStarted(out, { referenceId: 'R', workflowId: 'purchase-R', runId: 'r', started: true }, result);
    expectLines(2);
    expect(printed).toMatch(/^R  ABANDONED  \(it holds a /);
  });

  it('in the findings of a reconciliation and their advice', () => {
    const text = { orderIds: [HOSTILE], explanation: HOSTILE, advice: HOSTILE, note: HOSTILE };
    const finding = { ...text, kind: 'LOST' as const, amounts: {}, done: 'unrepaired' as const };
    const counts = { orders: 1, findings: { LOST: 1 }, repaired: 0, report: 'report.html' };
    showReconciliation(out, { from: 'then', to: 'now', details: [finding], ...counts });
    expectLines(5);
    expect(printed.split(CLEAN)).toHaveLength(5);
  });

  it('in the reason why a redelivery withholds new keys', () => {
    const order = { id: 'O-1', status: 'COMPLETED', issue: `it holds ${HOSTILE}` };
    showRedelivery(out, { referenceId: 'R', workflowId: 'deliver-R', events: [], order });
    expectLines(2);
    expect(printed).toMatch(/\nnothing was sent\n$/);
  });

  it('in the last message of a pending activity, and in the reason for a missing result', () => {
    const work = { activity: 'getOrder', activityId: '1', attempt: 2, lastMessage: HOSTILE };
    const known = {
      referenceId: 'R',
      workflowId: 'purchase-R',
      runId: 'r',
      state: 'ENDED_WITHOUT_RESULT',
      workflowStatus: 'FAILED',
    } as const;
    const times = { startedAt: 'then', taskQueue: 'q', deliveries: [] };
    showStatus(out, { ...known, ...times, pendingActivities: [work], failure: HOSTILE });
    expectLines(7);
  });

  it('in a workflow that a foreign client started, and no command contains it', () => {
    const known = { referenceId: 'R', workflowId: 'purchase-R', runId: 'r', workflowStatus: 'RUNNING' } as const;
    const state = { state: 'PENDING', startedAt: HOSTILE, taskQueue: 'q' } as const;
    const deliveries = [{ state: 'RECEIVED', type: HOSTILE, eventId: HOSTILE, at: HOSTILE } as const];
    const work = { activity: HOSTILE, activityId: '1; touch /tmp/x #', attempt: 1, pausedByOperator: true };
    showStatus(out, { ...known, ...state, deliveries, pendingActivities: [work], deliveriesError: HOSTILE });
    expectLines(6);
    expect(printed).toContain('PAUSED by an operator: a [2J');
    expect(printed).toContain('Only the Temporal UI can unpause it.\n');
    expect(printed).not.toContain('touch');
    printed = '';
    showStatus(out, { ...known, ...state, deliveries: [], pendingActivities: [{ ...work, activityId: '12' }] });
    expect(printed).toContain('    npm run temporal -- activity unpause --workflow-id purchase-R --activity-id 12\n');
  });

  it('in the waiting time of a listed purchase, which a client can write into its memo', () => {
    const purchase = { ...LISTED, referenceId: 'R', state: 'HELD', explanation: 'why' } as const;
    showList(out, { purchases: [{ ...purchase, commands: [], since: HOSTILE }], moreCount: 0 }, {});
    expectLines(3);
  });
});

/** What a command prints for people. */
function printedBy(print: (out: Output) => void, colours = false): string {
  let printed = '';
  print({ json: false, colours, write: (text) => void (printed += text), note: () => undefined });
  return printed;
}

it.each([
  [0, 'no findings. The report'],
  [1, '1 finding, 0 repaired. The report'],
  [2, '2 findings, 0 repaired. The report'],
])('uses the singular and the plural correctly: %i', (count, words) => {
  const findings: Record<string, number> = count === 0 ? {} : { LOST: count };
  const result = { from: 'then', to: 'now', orders: 1, details: [], repaired: 0, report: 'report.html', findings };
  const printed = printedBy((out) => showReconciliation(out, result));
  expect(printed).toContain(words);
  expect(printed).toMatch(/^1 order from then/);
});

const LISTED = { workflowId: 'w', runId: 'r', workflowStatus: 'RUNNING', since: 'noon', startedAt: 'noon' } as const;
const PENDING = 'the partner has the order but has not completed it';

describe('a list of purchases in one state', () => {
  const purchase = (referenceId: string, more: Partial<ListedPurchase> = {}): ListedPurchase => {
    const commands = [`npx fulfilment status ${referenceId}`];
    return { ...LISTED, referenceId, state: 'PENDING', explanation: PENDING, commands, ...more };
  };

  it('has one line for each purchase, and prints what they share only once', () => {
    const list = { purchases: ['SALE-1', 'SALE-2', 'SALE-3'].map((id) => purchase(id)), moreCount: 0 };
    expect(printedBy((out) => showList(out, list, { state: 'PENDING' })).split('\n')).toEqual([
      'SALE-1  PENDING since noon',
      'SALE-2  PENDING since noon',
      'SALE-3  PENDING since noon',
      `3 purchases in state PENDING (${PENDING})`,
      'For each of them, type:',
      '    npx fulfilment status REFERENCE',
      expect.stringMatching(/^    npx fulfilment cancel REFERENCE  # /),
      '',
    ]);
  });

  it('says that nothing is left to do for a purchase that was delivered later, and offers no command', () => {
    const afterEnd = { state: 'DELIVERED', at: 'one', delivered: { p: 1 } } as const;
    const ended = { state: 'DELIVERED', outcome: 'OVERDUE', explanation: 'late', afterEnd, commands: [] } as const;
    const list = { purchases: [purchase('SALE-1', { ...ended, commands: [] })], moreCount: 0 };
    const printed = printedBy((out) => showList(out, list, { state: 'OVERDUE' }));
    expect(printed).toContain(
      'SALE-1  OVERDUE since noon\n  late\n  DELIVERED since one, by a late delivery: nothing is left to do\n',
    );
    expect(printed).not.toContain('npx');
  });

  it('does not say that nothing is left to do for a purchase that was refunded after keys had been delivered', () => {
    const afterEnd = { state: 'REFUNDED', at: 'one', delivered: { p: 1 } } as const;
    const ended = { state: 'REFUNDED', outcome: 'PARTIALLY_DELIVERED', explanation: 'part', afterEnd } as const;
    const list = { purchases: [purchase('SALE-1', { ...ended, commands: [] })], moreCount: 0 };
    const printed = printedBy((out) => showList(out, list, { state: 'PARTIALLY_DELIVERED' }));
    expect(printed).toContain(
      '  REFUNDED since one, by a late delivery: ask the partner whether the delivered keys still work\n',
    );
  });

  it('has the commands of each held purchase, because they differ', () => {
    const notice = { id: '1', reason: 'PLACEMENT_UNKNOWN', explanation: 'why', since: 'noon' } as const;
    const held: Partial<ListedPurchase> = { state: 'HELD', explanation: 'why', hold: { ...notice, decisions: [] } };
    const list = { purchases: [purchase('SALE-1', held), purchase('SALE-2', held)], moreCount: 0 };
    const printed = printedBy((out) => showList(out, list, { state: 'HELD' }));
    expect(printed.match(/npx fulfilment/g)).toHaveLength(2);
    expect(printed).toMatch(/^SALE-1  HELD since noon\n  PLACEMENT_UNKNOWN: why\n    npx/);
  });
});

describe('the status of a purchase', () => {
  const times = { startedAt: 'noon', taskQueue: 'q', deliveries: [], pendingActivities: [] };
  const status: PurchaseStatus = {
    ...{
      referenceId: 'SALE-1',
      workflowId: 'w',
      runId: 'r',
      state: 'UNCONFIRMED',
      workflowStatus: 'RUNNING',
      ...times,
    },
  };

  it('that is unconfirmed explains the state and the next step, or says that no worker responded', () => {
    const waitsFor = { what: 'the order history is searched', since: 'noon', until: '2026-01-01T01:00:00.000Z' };
    const printed = printedBy((out) => showStatus(out, { ...status, waitsFor }));
    expect(printed).toContain('  it is unknown whether the partner accepted the order');
    expect(printed).toContain('  next: the order history is searched\n');
    expect(printed).not.toContain('T01:00');
    expect(printedBy((out) => showStatus(out, status))).toContain('no worker responded within 3 s');
  });

  it('that is paused or unconfirmed says why', () => {
    const waitsFor = { what: 'another try', since: 'noon' };
    for (const state of ['PAUSED', 'UNCONFIRMED'] as const) {
      const shown = { ...status, state, explanation: 'the partner returned 503', waitsFor };
      const printed = printedBy((out) => showStatus(out, shown));
      expect(printed).toContain('  reason: the partner returned 503\n  next: another try\n');
    }
  });

  it('that waits for a worker names both causes: no running worker, or a new server that is not set up', () => {
    const printed = printedBy((out) => showStatus(out, { ...status, waitsForWorkerSince: 'noon' }));
    expect(printed.replaceAll(/\s+/g, ' ')).toContain(
      'no worker on task queue q has picked up its next step since noon. If this persists, check that a worker is running, and with versioned workers, one of its version. ',
    );
    expect(printed).toMatch(/A new dev server, or one that was restarted .* first needs: npx fulfilment setup\n/);
  });

  it('that no worker has picked up says so, and not that its order is being placed', () => {
    const waiting = { state: 'STARTED', waitsForWorkerSince: 'noon' } as const;
    const printed = printedBy((out) => showStatus(out, { ...status, ...waiting }));
    expect(printed).toContain('  nothing has happened yet: no worker has picked it up\n');
    expect(printed).not.toContain('is being placed');
  });

  it('wraps a long line about the next step', () => {
    const what = Array.from({ length: 30 }, (_, index) => `number-${index}`).join(' ');
    const waitsFor = { what, since: 'noon' };
    const printed = printedBy((out) => showStatus(out, { ...status, waitsFor }));
    const [, lines = ''] = printed.split('so the order history is searched\n');
    expect(lines.split('\n').map((line) => line.slice(0, 8))).toEqual(['  next: ', '    numb', '    numb', '']);
    expect(lines.replaceAll(/\s+/g, ' ').trim()).toBe(`next: ${what}`);
  });

  it('that was delivered after its end shows the current state and how it ended', () => {
    const result: PurchaseResult = { referenceId: 'SALE-1', outcome: 'OVERDUE', lines: [], reason: 'late' };
    const afterEnd = { state: 'DELIVERED', at: 'one', delivered: {} } as const;
    const ended = { state: 'DELIVERED', workflowStatus: 'COMPLETED', endedAt: 'noon', result, afterEnd } as const;
    const printed = printedBy((out) => showStatus(out, { ...status, ...ended }));
    expect(printed).toMatch(/^SALE-1  DELIVERED\n/);
    expect(printed).toContain(
      '  ended OVERDUE  (late)\n  since one, after its end: DELIVERED. Nothing is left to do.\n',
    );
    expect(printed).not.toContain('redeliver');
  });

  it.each([
    [1, 'Keys were delivered before the refund: ask the partner whether they still work.'],
    [0, 'Nothing is left to do.'],
  ])('that was refunded after its end, with %i keys delivered before, says what is left to do', (delivered, words) => {
    const lines = [{ productId: 'p', quantity: 1, delivered }];
    const outcome = delivered > 0 ? 'DELIVERED' : 'OVERDUE';
    const result: PurchaseResult = { referenceId: 'SALE-1', outcome, lines };
    const afterEnd = { state: 'REFUNDED', at: 'one', delivered: { p: delivered } } as const;
    const ended = { state: 'REFUNDED', workflowStatus: 'COMPLETED', endedAt: 'noon', result, afterEnd } as const;
    const printed = printedBy((out) => showStatus(out, { ...status, ...ended }));
    expect(printed).toContain(`  since one, after its end: REFUNDED. ${words}\n    ${delivered} of 1  p\n`);
  });

  it('shows all times in the same format', () => {
    const at = '2026-01-31T03:14:15.926Z';
    const deliveries = [{ state: 'RECEIVED', type: 'purchase.held', eventId: 'evt', at } as const];
    const printed = printedBy((out) => showStatus(out, { ...status, startedAt: at, endedAt: at, deliveries }));
    expect(printed.match(/2026-01-31 03:14:15 UTC/g)).toHaveLength(3);
    expect(printed).not.toContain('T03');
  });

  it('is coloured by its meaning only on a terminal that supports colours', () => {
    const colourOf = (state: CurrentState) =>
      printedBy((out) => showStatus(out, { ...status, state }), true).split(state)[0];
    const states = ['DELIVERED', 'PENDING', 'OVERDUE', 'HELD', 'FAILED', 'ENDED_WITHOUT_RESULT'] as const;
    const colours = states.map(colourOf);
    const [green, cyan, yellow, magenta, red] = [32, 36, 33, 35, 31].map((code) => `SALE-1  \u001B[${code}m`);
    expect(colours).toEqual([green, cyan, yellow, magenta, red, red]);
    expect(printedBy((out) => showStatus(out, status))).not.toContain('\u001B');
  });
});
