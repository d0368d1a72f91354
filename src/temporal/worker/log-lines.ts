import type { LogEntry } from '@temporalio/worker';
import { referenceOfWorkflow } from '../../contracts/names';
import { toSafeJson, toSingleLine } from '../../domain/text-format';

const MAX_MESSAGE_LENGTH = 600;

/** Attributes that only the SDK needs. */
const OF_SDK: readonly string[] = ['taskToken', 'isLocal'];

/** Attributes that a pretty line leaves out, because they are the same on every line or name what it is about. */
const LEFT_OUT = new Set([
  'sdkComponent',
  'namespace',
  'taskQueue',
  'workflowId',
  'workflowRunId',
  'runId',
  'workflowType',
  'activityId',
  'activityType',
]);

/** A line for programs: everything that is known about the event, without the attributes that only the SDK needs. */
export function jsonLine(entry: LogEntry): string {
  const line = { time: timeOf(entry), level: entry.level.toLowerCase(), message: entry.message };
  return JSON.stringify({ ...line, ...metaOf(entry) });
}

/** A human-readable line: the time of day, the message, and what it is about. */
export function prettyLine(entry: LogEntry): string {
  // The number of the first attempt is left out.
  const isNews = ([name, value]: [string, unknown]) =>
    !LEFT_OUT.has(name) && value !== undefined && !(name === 'attempt' && value === 1);
  const attributes = Object.entries(metaOf(entry)).filter(isNews);
  const rest = attributes.map(([name, value]) => ` ${name}=${formatValue(value)}`).join('');
  const time = timeOf(entry).slice(11, 23);
  return `${time} ${entry.level.padEnd(5)} ${toSingleLine(entry.message, MAX_MESSAGE_LENGTH)}${rest}`;
}

/** Ids and codes are easier to read without quotes. */
function formatValue(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/+-]+$/.test(value) ? value : toSafeJson(value, 0);
}

function timeOf(entry: LogEntry): string {
  return new Date(Number(entry.timestampNanos / 1_000_000n)).toISOString();
}

/**
 * The SDK's lines name only the workflow, so the reference is added. An error is reduced to its name and message,
 * because its stack or cause may contain other text.
 */
function metaOf({ meta = {} }: LogEntry): Record<string, unknown> {
  const { workflowId } = meta;
  const referenceId = typeof workflowId === 'string' ? referenceOfWorkflow(workflowId) : undefined;
  const plain = (value: unknown) => {
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    return typeof value === 'bigint' ? String(value) : value;
  };
  const others = Object.entries(meta).filter(([name]) => !OF_SDK.includes(name));
  const attributes = others.map(([name, value]) => [name, plain(value)]);
  return { ...(referenceId === undefined ? {} : { referenceId }), ...Object.fromEntries(attributes) };
}
