import type { Client } from '@temporalio/client';
import type * as Config from '../config';
import type * as Partner from '../partner';
import type { PartnerClient } from '../partner';
import type * as Library from '../starter/index';
import type * as Temporal from '../temporal/client';
import type * as Doctor from './doctor';
import type { Output } from './output';
import type * as StateWatch from './watch-states';

/** What the commands work with. Each part is created only when a command asks for it. */
export interface StarterContext {
  /** Loads `.env`. Called before a command runs, but not for help. */
  loadEnvFile(): void;
  temporal(): Promise<Client>;
  /** The workers' task queue. A command that needs a worker reads it before it connects. */
  taskQueue(): string;
  partner(): PartnerClient;
  /** The base URL of the Temporal UI, if it is known. */
  temporalUiUrl(): string | undefined;
  /** The settings of the nightly schedule. */
  schedule(): Library.ScheduleSettings;
  /** Tests the worker's configuration. */
  doctor(): Promise<Doctor.Diagnosis>;
  out: Output;
  /** A command sets this if it succeeds but must not end with 0. */
  exitCode: number;
}

// Temporal's client takes 0.2 s to load; the partner's client and zod take 0.1 s each. Only the commands that need them
// load them.
export const loadConfig = () => require('../config') as typeof Config;
export const loadDoctor = () => require('./doctor') as typeof Doctor;
export const loadLibrary = () => require('../starter/index') as typeof Library;
export const loadPartner = () => require('../partner') as typeof Partner;
export const loadStateWatch = () => require('./watch-states') as typeof StateWatch;
export const loadTemporal = () => require('../temporal/client') as typeof Temporal;
