import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderCsv } from './csv';
import { renderHtml } from './html/index';
import type { ReconciliationReport } from './report';

/** Characters. Longer strings than this are among V8's large objects, which it collects late. */
const CHUNK = 64 * 1024;

/**
 * Writes the report as HTML, CSV and JSON. Each file appears whole or not at all, the JSON last: if it is there, so are the
 * others. The same run writes the same files again.
 *
 * @returns their paths.
 * @throws the error of the file system.
 */
export async function writeReport(
  dir: string,
  report: ReconciliationReport,
): Promise<{ json: string; csv: string; html: string }> {
  const base = join(dir, `reconciliation-${fileNameOf(report.to)}-${fileNameOf(report.runId)}`);
  const paths = { html: `${base}.html`, csv: `${base}.csv`, json: `${base}.json` };
  await mkdir(dir, { recursive: true });
  await writeWhole(paths.html, [renderHtml(report)]);
  await writeWhole(paths.csv, renderCsv(report));
  await writeWhole(paths.json, renderJson(report));
  return paths;
}

/** Not every file system allows colons in names. */
function fileNameOf(text: string): string {
  return text.replace(/\.\d+(?=Z$)/, '').replace(/[^A-Za-z0-9-]/g, '-');
}

/** One finding a line. The whole in one string would take as much memory as all else of a reconciliation. */
function* renderJson({ findings, ...rest }: ReconciliationReport): Generator<string> {
  yield `${JSON.stringify(rest, undefined, 2).slice(0, -2)},\n  "findings": [`;
  for (const [index, finding] of findings.entries()) yield `${index === 0 ? '' : ','}\n    ${JSON.stringify(finding)}`;
  yield findings.length === 0 ? ']\n}\n' : '\n  ]\n}\n';
}

async function writeWhole(path: string, content: Iterable<string>): Promise<void> {
  const draft = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(draft, inChunks(content), { flag: 'wx', mode: 0o640, flush: true });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Each chunk is a write of its own. */
function* inChunks(content: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const part of content) {
    chunk += part;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
