import { Client, Connection, isGrpcDeadlineError, type WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { PURCHASE_STATE, REFERENCE_ID } from '../../../src/contracts/search-attributes';
import {
  createStarter,
  InvalidArgumentError,
  InvalidPurchaseError,
  isRetryable,
  PurchaseNotEndedError,
  PurchaseDiffersError,
  PurchaseEndedWithoutResultError,
  PurchaseNotFoundError,
  FulfilmentError,
} from '../../../src/starter/index';
import { rejectionOf } from '../../support/checks';
import { closeAtEnd } from '../../support/clean-up';
import { operatorOf } from '../../support/operator';
import { expectDeliveredOnce } from '../../support/purchase-checks';
import { startRefusingProxy } from '../../support/refusing-proxy';
import { sharedEnvironment } from '../../support/test-environment';
import { waitUntil } from '../../support/wait-until';

/** Of gRPC. */
const DEADLINE_EXCEEDED = 4;
const ITEMS = [
  { productId: 'demo-instant', quantity: 2 },
  { productId: 'demo-image', quantity: 1 },
];

describe('the library of a TypeScript checkout', () => {
  const env = sharedEnvironment({ sandbox: { agePerPollMs: 30_000 } });

  it('makes one purchase from ten simultaneous starts: nine find it, and none buys again', async () => {
    const referenceId = env.reference();
    const start = () => env.starter.purchase({ referenceId, items: ITEMS });
    const starts = await Promise.all(Array.from({ length: 10 }, start));
    expect(starts.filter(({ started }) => started)).toHaveLength(1);
    expect(new Set(starts.map(({ runId }) => runId)).size).toBe(1);
    await expectDeliveredOnce(env, referenceId, 3);
  });

  it('finds the purchase after its end, whatever the order of the items, and never buys it again', async () => {
    const { referenceId } = await env.bought({ 'demo-instant': 2, 'demo-image': 1 });
    const again = await env.starter.purchase({ referenceId, items: ITEMS.toReversed() });

    expect(again).toMatchObject({ referenceId, started: false, workflowId: `purchase-${referenceId}` });
    await expectDeliveredOnce(env, referenceId, 3);
  });

  it('refuses other items under a known reference and shows both, during the purchase and after', async () => {
    const referenceId = await env.buy({ 'demo-instant': 1 });
    const other = () => env.starter.purchase({ referenceId, items: [{ productId: 'demo-instant', quantity: 2 }] });

    await expect(other()).rejects.toThrow(/existing: {2}1 × demo-instant\n {2}requested: 2 × demo-instant/);
    await env.starter.result(referenceId);
    await expect(other()).rejects.toThrow(PurchaseDiffersError);
    expect(env.sandbox.placeRequestsOf(referenceId)).toBe(1);
  });

  it('refuses a different or missing maximum debit under a known reference', async () => {
    const referenceId = env.reference();
    const items = ITEMS.slice(0, 1);
    const most = (maxDebit?: number) => env.starter.purchase({ referenceId, items, maxDebit });
    expect(await most(20)).toMatchObject({ started: true });

    expect(await most(20.0)).toMatchObject({ started: false });
    await expect(most(21)).rejects.toThrow(/for at most 20\n {2}requested: 2 × demo-instant, for at most 21/);
    await expect(most()).rejects.toThrow(PurchaseDiffersError);
    expect((await env.starter.result(referenceId)).outcome).toBe('DELIVERED');
  });

  it('refuses an invalid purchase before anything starts, and lists every issue in the error', async () => {
    const referenceId = env.reference();
    const refused = env.starter.purchase({ referenceId, items: [{ productId: '', quantity: 0 }] });

    await expect(refused).rejects.toThrow(InvalidPurchaseError);
    await expect(refused).rejects.toMatchObject({ issues: [expect.anything(), expect.anything()] });
    await expect(env.starter.status(referenceId)).rejects.toThrow(PurchaseNotFoundError);
  });

  it('reports a purchase that was never started as not found, whichever method is called', async () => {
    const { starter } = env;
    await expect(starter.status('never-1')).rejects.toThrow(PurchaseNotFoundError);
    await expect(starter.result('never-1')).rejects.toThrow(PurchaseNotFoundError);
    await expect(starter.redeliver('never-1')).rejects.toThrow(PurchaseNotFoundError);
    await expect(starter.resolve('never-1', { decision: 'abandon' })).rejects.toThrow(PurchaseNotFoundError);
  });

  it('says that nothing was bought if another client started a purchase with invalid input', async () => {
    const referenceId = env.reference();
    await env.startRaw(referenceId, { args: [{ referenceId, items: [] }] });
    const error = await rejectionOf(env.starter.result(referenceId));
    expect(error).toMatchObject({ workflowStatus: 'FAILED', isInvalidInput: true });
    expect(error?.message).toContain('so it bought nothing. Use a new reference, unless');
  });

  it('distinguishes a terminated purchase from one with a result, and shows who ended it', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    await env.untilState(referenceId, 'PENDING');
    const ended = expect(env.starter.result(referenceId)).rejects.toThrow(
      /ended as TERMINATED \(by the night shift\)[^]*orders --search/,
    );
    await env.handleOf(referenceId).terminate('by the night shift');
    await ended;
    await expect(env.starter.result(referenceId)).rejects.toThrow(PurchaseEndedWithoutResultError);
    await expect(env.starter.result(referenceId)).rejects.toMatchObject({ isInvalidInput: false });

    const status = await env.starter.status(referenceId);
    expect(status).toMatchObject({
      state: 'ENDED_WITHOUT_RESULT',
      pendingActivities: [],
      workflowStatus: 'TERMINATED',
      failure: 'by the night shift',
    });
    expect(status.result).toBeUndefined();
  });

  it('keeps waiting for the result when a call to the server times out, and stops at the deadline of its caller', async () => {
    const proxy = await startRefusingProxy(env.address);
    const connection = await Connection.connect({ address: proxy.address });
    closeAtEnd(() => connection.close());
    const client = new Client({ connection });
    const { result } = createStarter(client, { taskQueue: env.taskQueue });
    const referenceId = await env.buy({ 'demo-instant': 1 });

    proxy.refuse(DEADLINE_EXCEEDED);
    const waiting = result(referenceId);
    await waitUntil('a call was refused', () => proxy.refusals() > 0);
    proxy.refuse();
    expect((await waiting).outcome).toBe('DELIVERED');

    const other = await env.buy({ 'demo-never': 1 });
    const limited = client.withDeadline(Date.now() + 2_000, () => result(other));
    expect(isGrpcDeadlineError(await rejectionOf(limited))).toBe(true);
  });

  it('waits for the result only until its timeout, and says that the purchase continues, not that Temporal is down', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    const late = await rejectionOf(env.starter.result(referenceId, { timeoutMs: 1_000 }));
    expect(late).toBeInstanceOf(PurchaseNotEndedError);
    expect(late?.message).toContain(`Purchase ${referenceId} did not end in time. It continues:`);
    expect(isRetryable(late)).toBe(true);
    await expect(env.starter.result(referenceId, { timeoutMs: 0 })).rejects.toThrow(InvalidArgumentError);
    expect(() => createStarter(env.client, { taskQueue: '' })).toThrow(InvalidArgumentError);
    await env.handleOf(referenceId).terminate();
  });

  it('keeps waiting for the result when an operator resets the purchase: the run ends, the purchase does not', async () => {
    const referenceId = await env.buy({ 'demo-never': 1 });
    await env.untilState(referenceId, 'PENDING');
    const waiting = env.starter.result(referenceId);
    const operator = operatorOf(env, referenceId);
    await operator.reset((await operator.points()).at(-1)!);
    await env.changeOrder(referenceId, { status: 'COMPLETED' });

    expect((await waiting).outcome).toBe('DELIVERED');
    await expectDeliveredOnce(env, referenceId, 1);
  });
});

describe('a workflow that a checkout in another language starts itself', () => {
  const env = sharedEnvironment({ sandbox: { agePerPollMs: 30_000 } });

  const start = (referenceId: string, ...args: unknown[]) =>
    env.startRaw(referenceId, { args, workflowIdReusePolicy: 'REJECT_DUPLICATE' });

  it('is found and compared by this library, although it has neither a summary nor a memo', async () => {
    const referenceId = env.reference();
    await start(referenceId, { referenceId, items: ITEMS.toReversed() });

    expect(await env.starter.purchase({ referenceId, items: ITEMS })).toMatchObject({ started: false });
    await expect(env.starter.purchase({ referenceId, items: ITEMS.slice(1) })).rejects.toThrow(PurchaseDiffersError);
    expect((await env.starter.result(referenceId)).outcome).toBe('DELIVERED');
    const { typedSearchAttributes } = await env.handleOf(referenceId).describe();
    expect(typedSearchAttributes.get(REFERENCE_ID)).toBe(referenceId);
    expect(typedSearchAttributes.get(PURCHASE_STATE)).toBe('DELIVERED');
  });

  it.each([
    ['no argument', () => []],
    ['no items', (referenceId: string) => [{ referenceId }]],
    ['half a key', (referenceId: string) => [{ referenceId, items: [{ productId: 'demo-instant', quantity: 1.5 }] }]],
    ['a product listed twice', (referenceId: string) => [{ referenceId, items: [ITEMS[0], ITEMS[0]] }]],
    ['an id that does not match its reference', () => [{ referenceId: 'someone-else', items: ITEMS }]],
  ])('fails with %s as InvalidPurchase, and buys nothing', async (_, args) => {
    const referenceId = env.reference('bad');
    const before = env.sandbox.requests().place;
    const handle = await start(referenceId, ...args(referenceId));

    const failure = (await rejectionOf<WorkflowFailedError>(handle.result()))?.cause;
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type: 'InvalidPurchase' });
    expect(await env.starter.status(referenceId)).toMatchObject({
      state: 'ENDED_WITHOUT_RESULT',
      workflowStatus: 'FAILED',
      failure: failure?.message,
    });
    expect(env.sandbox.requests().place).toBe(before);
    expect(await env.sandbox.ordersOf(referenceId)).toEqual([]);
  });

  it('uses up its reference even with invalid input, and the next start says so', async () => {
    const referenceId = env.reference('bad');
    await start(referenceId, { referenceId, items: 'two keys' });

    const refused = env.starter.purchase({ referenceId, items: ITEMS });
    await expect(refused).rejects.toThrow(FulfilmentError);
    await expect(refused).rejects.toThrow(/already started with invalid input/);
  });
});
