import { metricMeter } from '@temporalio/workflow';
import { metricsOf } from '../contracts/metrics';

/** Records nothing during a replay. A repeated workflow task records again. */
export const metrics = metricsOf(metricMeter);
