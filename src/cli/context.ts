import type { Client } from '@temporalio/client';
import type { PartnerClient } from '../partner/index';
import type { Diagnosis } from './doctor';
import type { Output } from './output';
import type { ScheduleSettings } from '../starter/schedule';

/** What the commands work with; each is built only by the commands that need it. */
export interface StarterContext {
  temporal(): Promise<Client>;
  /** Where workers take work. Commands that hand work to a worker read it before they connect. */
  taskQueue(): string;
  partner(): PartnerClient;
  /** What the nightly schedule is to be. */
  schedule(): ScheduleSettings;
  /** Tries the worker's configuration. */
  doctor(): Promise<Diagnosis>;
  out: Output;
  /** Set by a command that has worked and still is to end with another code than 0. */
  exitCode: number;
}
