/**
 * A safety rule, broken on purpose.
 *
 * @typedef {object} Mutant
 * @property {string} name
 * @property {string} rule what is broken; docs/architecture.md#failure-model has the rules
 * @property {string} file the file of the rule
 * @property {string} find stands exactly once in that file
 * @property {string} replace what breaks the rule
 * @property {string[]} tests at least one test of these files must turn red
 */

/** @type {Mutant[]} */
export const MUTANTS = [
  {
    name: 'fresh-reference',
    rule: 'every attempt bears the same reference',
    file: 'src/activities/place-order.ts',
    find: 'deps.partner.placeOrder({ items, referenceId: input.referenceId }',
    replace: 'deps.partner.placeOrder({ items, referenceId: `${input.referenceId}-${deps.now()}` }',
    tests: ['test/scenarios/placement/answers.test.ts'],
  },
  {
    name: 'no-search-before-placing',
    rule: 'the history is searched before each placement',
    file: 'src/activities/place-order.ts',
    find: 'const before = await findBefore(deps, input);',
    replace: 'const before = deps.now() < 0 ? await findBefore(deps, input) : undefined;',
    tests: ['test/scenarios/placement/good-case.test.ts', 'test/scenarios/placement/answers.test.ts'],
  },
  {
    name: 'second-dispatch',
    rule: 'an activity that is dispatched a second time sends nothing',
    file: 'src/activities/place-order.ts',
    find: 'if (info.attempt > 1 || dispatchedAfterMs > ONE_DISPATCH_MS) {',
    replace: 'if (info.attempt > 1_000 && dispatchedAfterMs > ONE_DISPATCH_MS) {',
    tests: ['test/scenarios/operators/pending-activity.test.ts'],
  },
  {
    name: 'later-run',
    rule: 'a run that is not the first of its chain settles before it places',
    file: 'src/activities/place-order.ts',
    find: 'if (runId !== input.firstRunId && runId !== input.settledInRun) {',
    replace: 'if (runId === undefined || input.maxAgeMs < 0) {',
    tests: ['test/scenarios/operators/reset.test.ts'],
  },
  {
    name: 'frozen-worker',
    rule: 'an attempt that is too old at the moment of the write writes nothing',
    file: 'src/partner/transport.ts',
    find: 'if (this.notAfter !== undefined && this.limits.now() > this.notAfter) return',
    replace: 'if (this.notAfter !== undefined && this.limits.now() < 0) return',
    tests: ['test/unit/partner/not-sent.test.ts'],
  },
  {
    name: 'unsent-by-a-timer',
    rule: 'what was written is never called unsent because a timer was faster',
    file: 'src/activities/place-order.ts',
    find: 'const placed = await deps.partner.placeOrder({ items, referenceId: input.referenceId }, { notAfter });',
    replace: `const request = deps.partner.placeOrder({ items, referenceId: input.referenceId }, { notAfter });
    const limitMs = notAfter + deps.settings.partnerTimeoutMs + 1_000 - deps.now();
    const placed = await Promise.race([request, new Promise<undefined>((resolve) => setTimeout(resolve, limitMs))]);
    if (!placed) return { evidence: 'NOT_SENT', why: 'its time is over' };`,
    tests: ['test/resilience/crash/worker-killed.test.ts'],
  },
  {
    name: 'reset-is-unsent',
    rule: 'a connection error after the write proves nothing',
    file: 'src/partner/transport.ts',
    find: "else this.settle({ end: 'failed', why, sent, code, head });",
    replace: "else this.settle({ end: 'failed', why, sent: sent && why !== 'connection', code, head });",
    tests: ['test/unit/partner/place-order.test.ts'],
  },
  {
    name: 'fetch',
    rule: 'place-order is never sent by something that follows redirects or repeats requests by itself',
    file: 'src/partner/transport.ts',
    find: 'dispatcher.dispatch({ origin, method, path, headers, body: body ?? null }, handler);',
    replace:
      'void fetch(`${origin}${path}`, { method, headers, body: body as never }).then(async (answer) => { handler.onRequestStart({ abort() {} } as unknown as Dispatcher.DispatchController); handler.onResponseStart({} as Dispatcher.DispatchController, answer.status, Object.fromEntries(answer.headers)); handler.onResponseData({} as Dispatcher.DispatchController, Buffer.from(await answer.arrayBuffer())); handler.onResponseEnd(); }, (error: Error) => handler.onResponseError({} as Dispatcher.DispatchController, error)); void dispatcher;',
    tests: ['test/unit/partner/place-order.test.ts'],
  },
  {
    name: 'two-attempts',
    rule: 'a placement has one attempt',
    file: 'src/workflows/policies.ts',
    find: `    startToCloseTimeout: placementInFlight(settings) + 5 * SECOND,
    retry: { maximumAttempts: 1 },`,
    replace: `    startToCloseTimeout: placementInFlight(settings) + 5 * SECOND,
    retry: { maximumAttempts: 2 },`,
    tests: ['test/unit/workflows/policies.test.ts'],
  },
  {
    name: 'fuzzy-reference',
    rule: 'references are compared byte for byte',
    file: 'src/activities/find-orders.ts',
    find: 'row.referenceId === referenceId',
    replace: 'row.referenceId?.includes(referenceId)',
    tests: ['test/scenarios/placement/history.test.ts'],
  },
  {
    name: 'page-1-only',
    rule: 'a history that ignores the search is read back to before the purchase',
    file: 'src/partner/paged-list.ts',
    find: 'if (end <= 1) return pages.haveCounted(pages.hitsAtFirst);',
    replace: 'if (end >= 1) return true;',
    tests: ['test/scenarios/placement/history.test.ts'],
  },
  {
    name: 'no-proof',
    rule: 'absent is only what a history shows that has proven itself readable',
    file: 'src/workflows/settle-placement.ts',
    find: 'result.readable || !prove',
    replace: 'result.readable || true',
    tests: ['test/scenarios/placement/history.test.ts'],
  },
  {
    name: 'one-search-settles',
    rule: 'absent is only what is shown through the whole settling time',
    file: 'src/workflows/settle-placement.ts',
    find: 'windowMs: settings.settleMs, prove: true',
    replace: 'windowMs: 0, prove: true',
    tests: ['test/scenarios/placement/history.test.ts'],
  },
  {
    name: 'deliver-both',
    rule: 'a double purchase is reported',
    file: 'src/workflows/settle-placement.ts',
    find: 'if (doubles.length > 0) {',
    replace: 'if (doubles.length > 1_000) {',
    tests: ['test/scenarios/placement/double-orders.test.ts'],
  },
  {
    name: 'replace-unanswered',
    rule: 'an order that is absent after silence is placed again only where the configuration says so',
    file: 'src/domain/settling.ts',
    find: "policy === 'answered' && evidence === 'ANSWERED'",
    replace: "policy === 'answered' && evidence !== 'PLACED'",
    tests: ['test/scenarios/placement/answers.test.ts'],
  },
  {
    name: 'other-items',
    rule: 'an order of other items is not adopted',
    file: 'src/workflows/review-order.ts',
    find: 'if (difference !== undefined && !accepted.items) {',
    replace: 'if (difference !== undefined && !accepted.items && compare === undefined) {',
    tests: ['test/scenarios/placement/double-orders.test.ts'],
  },
  {
    name: 'owner',
    rule: 'one order is not delivered under two references',
    file: 'src/activities/poll-order.ts',
    find: 'return { ...snapshot, claimedBy, earlier };',
    replace: 'return { ...snapshot, claimedBy: claimedBy === orderId ? claimedBy : undefined, earlier };',
    tests: ['test/scenarios/placement/double-orders.test.ts'],
  },
  {
    name: 'old-decision',
    rule: 'a decision answers the hold that it names and no other',
    file: 'src/workflows/holds.ts',
    find: 'if (open.notice.id !== decision.hold) {',
    replace: "if (open.notice.id === '') {",
    tests: ['test/scenarios/operators/decisions.test.ts'],
  },
  {
    name: 'junk-receipt',
    rule: 'only a real receipt counts as delivered',
    file: 'src/workflows/activity-result-guards.ts',
    find: "return isString(eventId) && eventId.startsWith('evt_');",
    replace: "return eventId !== '';",
    tests: ['test/scenarios/operators/manual-activity-results.test.ts'],
  },
  {
    name: 'no-last-read',
    rule: 'only a read at the deadline makes an order overdue',
    file: 'src/workflows/await-order.ts',
    find: 'return readOrder(purchase, orderId);',
    replace: 'return undefined;',
    tests: ['test/scenarios/purchase/waiting.test.ts', 'test/scenarios/purchase/outcomes.test.ts'],
  },
  {
    name: 'closer-polls',
    rule: 'polls are never closer than the interval',
    file: 'src/activities/poll-order.ts',
    find: 'if (activityInfo().attempt === 1 && input.firstDelayMs > 0) {',
    replace: 'if (activityInfo().attempt === 0) {',
    tests: ['test/scenarios/purchase/waiting.test.ts'],
  },
  {
    name: 'event-without-fingerprints',
    rule: 'the keys are part of what an event is',
    file: 'src/contracts/event-id.ts',
    find: 'identity.fingerprints.toSorted()',
    replace: '[]',
    tests: ['test/unit/contracts/event-id.test.ts'],
  },
  {
    name: 'all-keys',
    rule: 'an event holds exactly the keys that it names',
    file: 'src/activities/deliver-event.ts',
    find: 'return line.fingerprints.map((fingerprint) => {',
    replace: 'if (line.fingerprints.length > 0) return there;\n  return line.fingerprints.map((fingerprint) => {',
    tests: ['test/scenarios/delivery/orders-that-change.test.ts'],
  },
  {
    name: 'gone-is-tried-again',
    rule: '410 holds an event for a person',
    file: 'src/activities/failures.ts',
    find: "if (error.kind === 'gone') return failure(FAILURE.deliveryRefused, error.message, { final: true });",
    replace: "if (error.kind === 'gone') return failure(FAILURE.deliveryRefused, error.message);",
    tests: ['test/scenarios/delivery/answers.test.ts'],
  },
  {
    name: 'logged-cause',
    rule: 'what a parser or a partner says never becomes part of a failure',
    file: 'src/partner/read-answer.ts',
    find: "if (parsed === undefined) throw unreadable({ ...facts, reason: 'not-json' });",
    replace:
      "if (parsed === undefined) throw Object.assign(unreadable({ ...facts, reason: 'not-json' }), { cause: String(exchange.body) });",
    tests: ['test/unit/partner/hostile.test.ts'],
  },
  {
    name: 'plain-hash',
    rule: 'fingerprints are keyed',
    file: 'src/delivery/fingerprints.ts',
    find: "const mac = createHmac('sha256', secret)",
    replace: "const mac = createHmac('sha256', '')",
    tests: ['test/unit/delivery/fingerprints.test.ts'],
  },
  {
    name: 'advice-replaced-twice',
    rule: 'advice names the reference as it is, also one that contains the word ORDER',
    file: 'src/domain/reconciliation/describe-finding.ts',
    find: "advice.replace(/REFERENCE|ORDER/g, (word) => (word === 'ORDER' ? orderId : referenceId))",
    replace: "advice.replace('REFERENCE', () => referenceId).replace('ORDER', () => orderId)",
    tests: ['test/unit/domain/reconciliation/reconcile.test.ts'],
  },
];
