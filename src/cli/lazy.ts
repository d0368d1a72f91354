import type * as Config from '../config';
import type * as Delivery from '../delivery';
import type * as Doctor from './doctor';
import type * as Partner from '../partner';
import type * as Library from '../starter/index';
import type * as Temporal from '../temporal/client';
import type * as Tracing from '../tracing';

/*
 * What takes long to load is loaded by the commands that need it: `--help` and a mistyped command need none of it, and a
 * purchase neither the partner's client nor its schemas.
 */

export const loadConfig = () => require('../config') as typeof Config;
export const loadDelivery = () => require('../delivery') as typeof Delivery;
export const loadDoctor = () => require('./doctor') as typeof Doctor;
export const loadLibrary = () => require('../starter/index') as typeof Library;
export const loadPartner = () => require('../partner') as typeof Partner;
export const loadTemporal = () => require('../temporal/client') as typeof Temporal;
export const loadTracing = () => require('../tracing') as typeof Tracing;
