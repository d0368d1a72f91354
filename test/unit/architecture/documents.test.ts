import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const PACKAGE = JSON.parse(textOf('package.json')) as Record<
  'scripts' | 'dependencies' | 'devDependencies',
  Record<string, string>
>;

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}

const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...filesIn('docs', '.md')];

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function linksOf(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
}

/** The anchor of each heading, as GitHub makes it. */
function anchorsOf(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading ?? '');
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function exists(target: string): boolean {
  const [path = '', anchor] = target.split('#');
  if (!existsSync(join(ROOT, path))) return false;
  return anchor === undefined || !path.endsWith('.md') || anchorsOf(textOf(path)).includes(anchor);
}

describe('the documents', () => {
  it.each(DOCUMENTS)('%s has no broken link and no broken anchor', (name) => {
    const local = linksOf(textOf(name)).filter((link) => !/^https?:/.test(link));
    const targets = local.map((link) => (link.startsWith('#') ? name + link : join(dirname(name), link)));
    expect(targets.filter((target) => !exists(target))).toEqual([]);
  });

  it('exist wherever the code names a page, so that no comment sends a reader to a missing page', () => {
    const code = [...filesIn('src', '.ts'), ...filesIn('test', '.ts'), ...filesIn('scripts', '.mjs')];
    const named = code.flatMap((path) =>
      [...textOf(path).matchAll(/docs\/[\w/-]+\.md(#[\w-]+)?/g)].map(([target]) => ({ path, target })),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(({ target }) => !exists(target))).toEqual([]);
  });

  it('name a test for every row of "What happens if", so that every promise is tested', () => {
    const [section = ''] = textOf('docs/operations.md').split('\n## What happens if\n')[1]?.split('\n## ') ?? [];
    const rows = section.split('\n').filter((line) => line.startsWith('| ') && !/^\| if( someone)? \|/.test(line));
    expect(rows.length).toBeGreaterThan(60);
    expect(
      rows.filter((row) => !linksOf(row.split(' | ').at(-1)!).some((link) => link.startsWith('../test/'))),
    ).toEqual([]);
    expect(new Set(linksOf(section).filter((link) => link.startsWith('../test/'))).size).toBeGreaterThan(60);
  });

  it.each(DOCUMENTS)('%s has no broken code block', (name) => {
    const fences = textOf(name)
      .split('\n')
      .filter((line) => /^\s*(``$|```)/.test(line));
    const odd = fences.filter((line, index) => !(index % 2 === 0 ? /^\s*```\w+$/ : /^\s*```$/).test(line));
    expect(odd).toEqual([]);
    expect(fences.length % 2).toBe(0);
  });

  it('name only npm scripts that exist', () => {
    const scripts = Object.keys(PACKAGE.scripts);
    const named = DOCUMENTS.flatMap((name) => [...textOf(name).matchAll(/npm run (?:-s |--silent )?([\w:]+)/g)]);
    expect(named.map(([, script]) => script).filter((script) => !scripts.includes(script ?? ''))).toEqual([]);
  });

  it('are each in the sidebar of the site, except single decisions, and the sidebar has no other page', () => {
    const config = textOf('docs/.vitepress/config.mjs');
    const pages = [...config.matchAll(/'(\/[\w/-]*)': '/g)].map(([, link]) =>
      link === '/' ? 'README.md' : `${link}.md`,
    );
    const expected = DOCUMENTS.filter((name) => !/decisions\/\d/.test(name));
    expect(pages.map((page) => page.replace(/^\//, '')).sort()).toEqual(expected.sort());
  });

  it('name only files that exist where CONTRIBUTING says what to touch and what to run', () => {
    const named = [
      ...textOf('CONTRIBUTING.md').matchAll(/`((?:src|test|sandbox|bench|ops|lint|scripts|docs)\/[\w./-]+)`/g),
    ];
    const paths = named.map(([, path]) => join(ROOT, path ?? ''));
    expect(paths.length).toBeGreaterThan(40);
    expect(paths.filter((path) => !['', '.ts', '.test.ts'].some((ending) => existsSync(path + ending)))).toEqual([]);
  });

  it('say for each dependency what it is for and what it was chosen over', () => {
    const decision = textOf('docs/decisions/5-dependencies.md');
    const packages = Object.keys({ ...PACKAGE.dependencies, ...PACKAGE.devDependencies });
    expect(packages.filter((name) => !decision.includes(`\`${name}\``))).toEqual([]);
  });
});
