import type { Client } from '@temporalio/client';
import type * as Config from '../config';
import type * as Partner from '../partner';
import type { PartnerClient } from '../partner';
import type * as Library from '../starter/index';
import type * as Temporal from '../temporal/client';
import type * as Doctor from './doctor';
import type { Output } from './output';

/** What the commands work with; each is built only by the commands that need it. */
export interface StarterContext {
  temporal(): Promise<Client>;
  /** Where workers take work. Commands that hand work to a worker read it before they connect. */
  taskQueue(): string;
  partner(): PartnerClient;
  /** The base URL of the Temporal UI, if it is known. */
  temporalUiUrl(): string | undefined;
  /** What the nightly schedule is to be. */
  schedule(): Library.ScheduleSettings;
  /** Tries the worker's configuration. */
  doctor(): Promise<Doctor.Diagnosis>;
  out: Output;
  /** Set by a command that has worked and still ends with another code than 0. */
  exitCode: number;
}

// Temporal's client takes 0.2 s to load, the partner's and zod 0.1 s each. So each is loaded by the commands that need it.
export const loadConfig = () => require('../config') as typeof Config;
export const loadDoctor = () => require('./doctor') as typeof Doctor;
export const loadLibrary = () => require('../starter/index') as typeof Library;
export const loadPartner = () => require('../partner') as typeof Partner;
export const loadTemporal = () => require('../temporal/client') as typeof Temporal;
