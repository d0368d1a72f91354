/** Stands still in the middle of its code, like a workflow of a worker that is frozen: for longer than the SDK's default lets it run. */
export async function frozenWorkflow(): Promise<string> {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
  return 'went on';
}
