import { filteredUrl, workflowsUrl, workflowUrl } from '../../../src/domain/ui-links';

const WORKFLOWS = 'http://localhost:8233/namespaces/default/workflows';

describe('an address in the Temporal UI', () => {
  it.each([
    ['http://localhost:8233', 'default', WORKFLOWS],
    ['https://tools.example/temporal/', 'shop', 'https://tools.example/temporal/namespaces/shop/workflows'],
    ['https://cloud.temporal.io', 'shop.a1b2c', 'https://cloud.temporal.io/namespaces/shop.a1b2c/workflows'],
  ])('starts with %s, with or without a path, and names the namespace %s', (uiUrl, namespace, expected) => {
    expect(workflowsUrl(uiUrl, namespace)).toBe(expected);
  });

  it('leads to the workflow with any id, never to another page or host', () => {
    expect(workflowUrl(WORKFLOWS, 'purchase-SALE:1')).toBe(`${WORKFLOWS}/purchase-SALE%3A1`);
    expect(workflowUrl(WORKFLOWS, 'a', 'run-1')).toBe(`${WORKFLOWS}/a/run-1`);
    expect(workflowUrl(WORKFLOWS, '../../?x#<"\u0000')).toBe(`${WORKFLOWS}/..%2F..%2F%3Fx%23%3C%22%20`);
    expect(workflowUrl(WORKFLOWS, 'half a pair \uD83D')).toBe(`${WORKFLOWS}/half%20a%20pair%20%20`);
  });

  it('carries a query as one parameter', () => {
    const url = filteredUrl(WORKFLOWS, "PurchaseState = 'HELD' AND a & b");
    expect([...new URL(url).searchParams]).toEqual([['query', "PurchaseState = 'HELD' AND a & b"]]);
  });
});
