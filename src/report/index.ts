export { calendarIn } from './calendar';
export { renderCsv } from './csv';
export { renderHtml } from './html/index';
export type { ReconciliationReport } from './report';
export { writeReport } from './write';
