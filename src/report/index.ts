export { calendarIn } from './calendar';
export { renderCsv } from './csv';
export { renderHtml } from './html/index';
export type { Done, ReconciliationReport, ReportedFinding } from './report';
export { writeReport } from './write';
