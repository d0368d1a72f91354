import type { Client } from '@temporalio/client';
import type { PartnerClient } from '../partner';
import type { Output } from './output';

/** What the commands work with; each is built only by the commands that need it. */
export interface StarterContext {
  temporal(): Promise<{ client: Client; taskQueue: string; answerWithinMs?: number }>;
  partner(): PartnerClient;
  out: Output;
  /** Set by a command that has worked and still is to end with another code than 0. */
  exitCode: number;
}
