import type { StatusQueryResult } from '../../../src/contracts/purchase';
import type { Decision, HoldReason } from '../../../src/domain/holds';
import { PURCHASE_OUTCOMES, PURCHASE_STATES, STATE_MEANINGS } from '../../../src/domain/purchase-state';
import { describeStatus } from '../../../src/workflows/describe-status';

const SINCE = '2026-01-31T03:14:15.926Z';

function statusWith(differing: Partial<StatusQueryResult> = {}): StatusQueryResult {
  return {
    referenceId: 'SALE-1',
    items: [{ productId: 'steam-50', quantity: 2 }],
    state: 'PLACING',
    since: SINCE,
    explanation: 'attempt 1 is under way',
    waitsFor: { what: "the partner's response", since: SINCE },
    cancelRequested: false,
    events: [],
    ...differing,
  };
}

function held(reason: HoldReason, decisions: Decision[]): StatusQueryResult {
  const hold = { id: 'run:1', reason, explanation: 'why', decisions, since: SINCE };
  return statusWith({ state: 'HELD', explanation: 'why', hold });
}

describe('the description of a purchase in the Temporal UI', () => {
  it.each(PURCHASE_STATES)('%s: names the state, when it began and what it means', (state) => {
    const text = describeStatus(statusWith({ state }));
    expect(text.split('\n\n')[0]).toBe(`**${state}** since 2026-01-31 03:14:15 UTC: ${STATE_MEANINGS[state]}.`);
    expect(text).toContain('- reference SALE-1: 2 × steam-50');
  });

  it.each(PURCHASE_OUTCOMES)('%s: says whether an operator has to act', (state) => {
    const text = describeStatus(statusWith({ state, waitsFor: undefined }));
    expect(text).not.toContain('**Next:**');
    expect(/Nothing to do|```\n# .+\nnpx fulfilment \w+ .*SALE-1/.test(text)).toBe(true);
  });

  it('names the next step and offers no command while no operator has to act', () => {
    const text = describeStatus(statusWith());
    expect(text).toContain('Attempt 1 is under way.\n\n');
    expect(text).toContain("**Next:** The partner's response.");
    expect(text).not.toContain('npx fulfilment');
  });

  it('says where later polls are shown only for a pending order', () => {
    const lastPoll = { status: 'PENDING', at: SINCE };
    const factsOf = (state: StatusQueryResult['state']) =>
      describeStatus(statusWith({ state, lastPoll })).match(/- polled .*/)?.[0];
    expect(factsOf('PENDING')).toBe(
      '- polled at 2026-01-31 03:14:15 UTC: PENDING (later polls are under Pending Activities)',
    );
    expect(factsOf('OVERDUE')).toBe('- polled at 2026-01-31 03:14:15 UTC: PENDING');
  });

  it('has the exact commands of a hold, one for each possible decision and no others', () => {
    const text = describeStatus(held('PLACEMENT_UNKNOWN', ['order', 'replace']));
    expect(/```\n(.*)\n```/s.exec(text)?.[1]?.match(/^npx.*/gm)).toEqual([
      'npx fulfilment orders --search SALE-1',
      'npx fulfilment resolve SALE-1 --order ORDER_ID --hold run:1',
      'npx fulfilment resolve SALE-1 --replace --hold run:1',
    ]);
    expect(text).toContain("The commands:\n\n```\n# shows the partner's orders with this reference\n");
    expect(text).toContain('\n# only if the partner has none: place the order again (spends money)\n');
    const other = describeStatus(held('ORDER_CHANGES', ['withhold']));
    expect(other.match(/npx fulfilment \w+/g)).toEqual(['npx fulfilment resolve']);
  });

  it('says that a cancel was requested and what it will do', () => {
    const asked = (state: StatusQueryResult['state']) => describeStatus(statusWith({ state, cancelRequested: true }));
    expect(asked('PLACING')).toContain('**Cancel:** requested. The purchase ends CANCELLED if no order was sent');
    expect(asked('PENDING')).toContain('**Cancel:** requested. An order exists, so the purchase continues');
  });

  it('shows outside text as plain text that adds no line, link or code block', () => {
    const hostile = '```\n# All is well\n[pay](https://evil.example)<b>';
    const polled = { lastPoll: { status: hostile, at: SINCE }, waitsFor: { what: hostile, since: SINCE } };
    const items = [{ productId: hostile, quantity: 1 }];
    const text = describeStatus(statusWith({ items, explanation: hostile, orderId: hostile, ...polled }));
    expect(text.split('\n').filter((line) => /^(`|#)/.test(line))).toEqual([]);
    expect(text).not.toMatch(/(?<!\\)[[<`]|https:/);
  });
});
