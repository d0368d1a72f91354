/** Blocks like a workflow on a frozen worker, longer than the SDK's default limit for workflow code. */
export async function frozenWorkflow(): Promise<string> {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
  return 'went on';
}
