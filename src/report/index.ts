export { renderCsv } from './csv';
export { renderHtml } from './html/index';
export { type ReconciliationReport, reportOf } from './report';
export { calendarIn, totalsOf } from './totals';
export { writeReport } from './write';
