export { keepGauges } from './gauges';
export { observePartner } from './partner';
