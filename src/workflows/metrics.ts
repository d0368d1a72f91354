import { metricMeter } from '@temporalio/workflow';
import { metricsOf } from '../contracts/record-metrics';

/** Records nothing while a workflow is replayed. A workflow task that is repeated records again what it recorded. */
export const metrics = metricsOf(metricMeter);
