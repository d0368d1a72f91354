import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toSafeJson } from '../domain/text-format';
import { renderCsv } from './csv';
import { renderHtml } from './html';
import { inBatches } from './batches';
import type { ReconciliationReport } from './report';

export { type ReconciliationReport, reportOf } from './report';

/**
 * Writes the report as HTML, CSV and JSON. Each file appears complete or not at all. The JSON is written last: if it
 * exists, so do the other two. If the same run writes again, it replaces its own files.
 *
 * @returns the paths
 */
export async function writeReport(
  dir: string,
  report: ReconciliationReport,
): Promise<{ json: string; csv: string; html: string }> {
  const base = join(dir, `reconciliation-${fileNameOf(report.to)}-${fileNameOf(report.runId)}`);
  const paths = { html: `${base}.html`, csv: `${base}.csv`, json: `${base}.json` };
  await mkdir(dir, { recursive: true });
  await writeAtomically(paths.html, renderHtml(report));
  await writeAtomically(paths.csv, renderCsv(report));
  await writeAtomically(paths.json, renderJson(report));
  return paths;
}

/** Puts each finding on its own line. */
function* renderJson({ findings, ...rest }: ReconciliationReport): Generator<string> {
  yield `${toSafeJson(rest).slice(0, -'\n}'.length)},\n  "findings": [`;
  yield* inBatches(findings, (finding, at) => `${at > 0 ? ',' : ''}\n    ${toSafeJson(finding, 0)}`);
  yield '\n  ]\n}\n';
}

/** Some file systems do not allow colons in names. */
function fileNameOf(text: string): string {
  return text.replace(/\.\d+(?=Z$)/, '').replace(/[^A-Za-z0-9-]/g, '-');
}

async function writeAtomically(path: string, content: string | Iterable<string>): Promise<void> {
  const draft = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o640, flush: true });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
