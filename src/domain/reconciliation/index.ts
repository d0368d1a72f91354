export {
  confirmationOf,
  type Finding,
  FINDING_KINDS,
  findingKey,
  type FindingKind,
  type FindingStatus,
  KIND_DOCS,
  readsSale,
  type ReportedFinding,
  withStatus,
} from './finding';
export { inReportOrder, reconcile, withKeysMissing } from './reconcile';
export {
  indexRecords,
  type KnownPurchase,
  mustBeInHistory,
  type PartnerOrder,
  type ReconcileOptions,
  type RecordIndex,
  recordsAbout,
  type UnreadableRecord,
} from './records';
