import type * as Doctor from './doctor';
import type * as Partner from '../partner';
import type * as Library from '../starter/index';
import type * as Temporal from '../temporal/client';

/*
 * Temporal's client takes 0.2 s to load, and the partner's 0.1 s. So each is loaded by the commands that need it: `--help` answers
 * in 0.15 s instead of 0.45 s.
 */
export const loadDoctor = () => require('./doctor') as typeof Doctor;
export const loadLibrary = () => require('../starter/index') as typeof Library;
export const loadPartner = () => require('../partner') as typeof Partner;
export const loadTemporal = () => require('../temporal/client') as typeof Temporal;
