export { FINDING_KINDS, type FindingKind, KIND_DOCS } from './finding-kinds';
export {
  confirmationOf,
  type Finding,
  findingKey,
  type FindingStatus,
  type ReportedFinding,
  withStatus,
} from './finding';
export { inReportOrder, reconcile, withKeysMissing } from './reconcile';
export { readsSale } from './repairs';
export {
  indexOwnership,
  indexRecords,
  type KnownPurchase,
  mustBeInHistory,
  type PartnerOrder,
  type ReconcileOptions,
  type RecordIndex,
  recordsAbout,
  type UnreadableRecord,
} from './records';
export { type Calendar, type Totals, totalsOf } from './totals';
