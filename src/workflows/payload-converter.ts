import { defaultPayloadConverter } from '@temporalio/common';
import { toleratingUndecodable } from '../contracts/payload-converter';

/** Decodes what reaches a workflow: its input, signals, updates, queries, and the results and failures of activities. */
export const payloadConverter = toleratingUndecodable(defaultPayloadConverter);
