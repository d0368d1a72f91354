import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(__dirname, '../../..');

function documents(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(ROOT, 'docs', name));
  return [join(ROOT, 'README.md'), join(ROOT, 'CHANGELOG.md'), ...docs];
}

function linksOf(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
}

describe('the documents', () => {
  it.each(documents().map((path) => relative(ROOT, path)))('%s links to nothing that is not there', (name) => {
    const path = join(ROOT, name);
    const local = linksOf(readFileSync(path, 'utf8')).filter((link) => !/^(https?:|#)/.test(link));
    const missing = local.filter((link) => !existsSync(join(dirname(path), link.split('#')[0] ?? '')));
    expect(missing).toEqual([]);
  });

  it('name a test for every row of what-happens-if.md, so that no promise stands there alone', () => {
    const rows = readFileSync(join(ROOT, 'docs/what-happens-if.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| if'));
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter((row) => !linksOf(row).some((link) => link.startsWith('../test/')))).toEqual([]);
  });
});
