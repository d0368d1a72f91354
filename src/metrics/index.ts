export { refreshGauges } from './gauges';
export { observePartner } from './partner';
