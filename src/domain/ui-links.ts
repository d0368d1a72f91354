import { toSingleLine } from './text-format';

/** Longer than any workflow id that a purchase has. */
const MAX_ID_LENGTH = 1_000;

/**
 * The page that lists the workflows of a namespace in the Temporal UI. The other URLs start with this one.
 *
 * @param uiUrl the base URL of the UI, as in `TEMPORAL_UI_URL`.
 */
export function workflowsUrl(uiUrl: string, namespace: string): string {
  return `${uiUrl.replace(/\/+$/, '')}/namespaces/${encoded(namespace)}/workflows`;
}

/** The page of a workflow. Without a run id, the UI opens the latest run. */
export function workflowUrl(workflows: string, workflowId: string, runId?: string): string {
  return [workflows, encoded(workflowId), ...(runId === undefined ? [] : [encoded(runId)])].join('/');
}

/** The list of workflows that match a visibility query. */
export function filteredUrl(workflows: string, query: string): string {
  return `${workflows}?query=${encoded(query)}`;
}

/** A client can give a workflow any id. Half a surrogate pair would make the encoder throw. */
function encoded(text: string): string {
  return encodeURIComponent(toSingleLine(text, MAX_ID_LENGTH));
}
