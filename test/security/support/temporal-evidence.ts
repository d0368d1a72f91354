import { inspect } from 'node:util';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { STATUS_QUERY } from '../../../src/contracts/names';
import type { Evidence } from './leak-search';

/**
 * Everything that Temporal's server stores about the workflows of a task queue and shows to UIs, CLIs, backups and
 * clients.
 */
export async function readTemporal(client: Client, taskQueue: string): Promise<Evidence[]> {
  const evidence: Evidence[] = [];
  for await (const listed of client.workflow.list({ query: `TaskQueue = '${taskQueue}'` })) {
    const name = listed.workflowId;
    evidence.push({ place: `list: ${name}`, text: textOf(listed.raw) });
    evidence.push(...(await readWorkflow(client.workflow.getHandle(name, listed.runId), name)));
  }
  return evidence;
}

async function readWorkflow(handle: WorkflowHandle, name: string): Promise<Evidence[]> {
  const { raw, ...described } = await handle.describe();
  const history = await handle.fetchHistory();
  const running = described.status.name === 'RUNNING';
  return [
    { place: `describe: ${name}`, text: textOf(raw) },
    { place: `history: ${name}`, text: textOf(history) },
    ...(running ? [] : [{ place: `result: ${name}`, text: await endOf(handle) }]),
    { place: `details: ${name}`, text: await queried(handle, '__temporal_workflow_metadata') },
    { place: `status: ${name}`, text: await queried(handle, STATUS_QUERY) },
    { place: `stack: ${name}`, text: await queried(handle, '__stack_trace') },
  ];
}

/** A failure as a program prints it, with its causes and stacks. */
async function endOf(handle: WorkflowHandle): Promise<string> {
  return handle.result().then(textOf, (failure: unknown) => inspect(failure, { depth: 20 }) + textOf(failure));
}

async function queried(handle: WorkflowHandle, query: string): Promise<string> {
  return handle.query(query).then(textOf, () => '');
}

/**
 * Every text in a value: names, strings, and bytes both as text and as the JSON in them. Values that are not strings
 * are in the JSON of the whole.
 */
export function textOf(value: unknown): string {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  const walk = (part: unknown) => {
    if (typeof part === 'string') texts.push(part);
    if (typeof part !== 'object' || part === null || seen.has(part)) return;
    seen.add(part);
    if (part instanceof Uint8Array) return walkBytes(Buffer.from(part));
    if (part instanceof Error) [part.name, part.message, part.stack, part.cause].forEach(walk);
    const entries = part instanceof Map ? [...part] : Object.entries(part);
    for (const [name, entry] of entries) [name, entry].forEach(walk);
  };
  const walkBytes = (bytes: Buffer) => {
    const text = bytes.toString('utf8');
    texts.push(text, bytes.toString('base64'));
    try {
      walk(JSON.parse(text));
    } catch {
      // Not JSON; the text itself is included already.
    }
  };
  walk(value);
  return texts.join('\n');
}
