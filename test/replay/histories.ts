import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ReplayWorkerOptions, Worker } from '@temporalio/worker';
import '../support/quiet-runtime';

/** The folder of the recorded histories. */
export const HISTORIES = join(__dirname, 'histories');

/** The parts of a recorded event that tests read. */
interface RecordedEvent {
  workflowExecutionStartedEventAttributes?: { workflowType: { name: string }; header?: object };
  workflowExecutionCompletedEventAttributes?: { result: { payloads: { data: string }[] } };
}

export interface RecordedHistory {
  name: string;
  workflowId: string;
  history: { events: RecordedEvent[] };
}

export function recordedHistories(): RecordedHistory[] {
  return readdirSync(HISTORIES).map((file) => ({
    ...(JSON.parse(readFileSync(join(HISTORIES, file), 'utf8')) as Omit<RecordedHistory, 'name'>),
    name: file.replace(/\.json$/, ''),
  }));
}

/** Replays histories, from files or a server, with the workflows of a bundle. */
export async function replay(code: string, histories: Parameters<typeof Worker.runReplayHistories>[1]) {
  const options: ReplayWorkerOptions = { workflowBundle: { code } };
  const result = { count: 0, failed: [] as { workflowId: string; error: string }[] };
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
    result.count++;
    if (error) result.failed.push({ workflowId, error: error.message });
  }
  return result;
}
