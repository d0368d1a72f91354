import {
  ApplicationFailure,
  condition,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertMemo,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { defineSearchAttributeKey } from '@temporalio/common';

/** Where a leaky workflow lets something out. */
export const PLACES = [
  'input',
  'memo',
  'search attribute',
  'static summary',
  'static details',
  'current details',
  'activity input',
  'activity summary',
  'activity result',
  'activity failure',
  'cause of a failure',
  'stack of a failure',
  'details of a failure',
  'local activity',
  'timer summary',
  'signal',
  'update',
  'answer to an update',
  'workflow failure',
  'pending failure',
  'heartbeat',
] as const;

export type Place = (typeof PLACES)[number];

/** What is planted there: nothing else has it, and both of its ends say where it belongs. */
export function plantOf(place: Place): string {
  const number = PLACES.indexOf(place) + 100;
  return `<${number}>-"${place}"-<${number}>`;
}

interface LeakyActivities {
  give(text: string): Promise<string>;
  take(text: string): Promise<void>;
  fail(): Promise<void>;
  hang(): Promise<void>;
}

/** Leaks in every place that Temporal has, as a control for the search. */
export async function leakyWorkflow(_input: string): Promise<void> {
  let updated = false;
  setHandler(defineUpdate<string, [string]>('update'), () => {
    updated = true;
    return plantOf('answer to an update');
  });
  upsertMemo({ planted: { deep: plantOf('memo') } });
  upsertSearchAttributes([
    { key: defineSearchAttributeKey('ReferenceId', 'KEYWORD'), value: plantOf('search attribute') },
  ]);
  setCurrentDetails(plantOf('current details'));

  const options = { startToCloseTimeout: '10s', retry: { maximumAttempts: 1 } } as const;
  const { give, take, fail } = proxyActivities<LeakyActivities>(options);
  const { hang } = proxyActivities<LeakyActivities>({ ...options, retry: { initialInterval: '1h' } });
  await take(plantOf('activity input'));
  await give.executeWithOptions({ summary: plantOf('activity summary') }, ['activity result']);
  await fail().catch(() => undefined);
  await proxyLocalActivities<LeakyActivities>(options).give('local activity');
  await sleep(1, { summary: plantOf('timer summary') });
  void hang().catch(() => undefined);
  await condition(() => updated);
  throw ApplicationFailure.nonRetryable(plantOf('workflow failure'));
}
