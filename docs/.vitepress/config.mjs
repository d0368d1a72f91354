import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The base of links to source files, such as https://git.example/fulfilment/blob/main. Without it they are plain text. */
const SOURCES = process.env.DOCS_SOURCES_URL?.replace(/\/$/, '');

const sidebar = [
  group('Start', { '/': 'Overview', '/docs/getting-started': 'Getting started', '/docs/glossary': 'Glossary' }),
  group('Checkout developer', {
    '/docs/checkout': 'Checkout',
    '/docs/reference/events': 'Events',
    '/docs/reference/sandbox': 'Partner sandbox',
  }),
  group('Operator', {
    '/docs/operations': 'Operations',
    '/docs/deploying': 'Deploying',
    '/docs/security': 'Security',
    '/docs/performance': 'Performance',
    '/docs/reference/commands': 'Commands',
    '/docs/reference/configuration': 'Configuration',
    '/docs/reference/metrics': 'Metrics',
  }),
  group('Contributor', {
    '/CONTRIBUTING': 'Contributing',
    '/docs/architecture': 'Architecture',
    '/docs/decisions/README': 'Decisions',
    '/CHANGELOG': 'Changelog',
  }),
];

export default defineConfig({
  title: 'Durable fulfilment worker',
  description: 'Buys digital goods from a partner, waits durably, and delivers the keys at least once',
  // Wider than usual: the tables and commands are wide.
  head: [['style', {}, '.VPDoc .content-container { max-width: 880px !important }']],
  srcDir: '..',
  srcExclude: ['!(docs)/*', '!(docs)/**/*'],
  rewrites: { 'README.md': 'index.md' },
  themeConfig: { sidebar, outline: [2, 3], search: { provider: 'local' } },
  vite: { plugins: [{ name: 'packages-of-docs', enforce: 'pre', resolveId: resolveFromDocs }] },
  markdown: { config: mapLinks, anchor: { slugify } },
  buildEnd: ({ outDir }) => cp(join(ROOT, 'docs/schemas'), join(outDir, 'docs/schemas'), { recursive: true }),
});

/** @param {Record<string, string>} pages titles by path */
function group(text, pages) {
  return { text, items: Object.entries(pages).map(([link, title]) => ({ link, text: title })) };
}

/** Pages in the project's root import `vue`, which is installed in docs only. */
function resolveFromDocs(id, importer = '') {
  return /^vue(\/|$)/.test(id) && importer.endsWith('.md')
    ? this.resolve(id, fileURLToPath(import.meta.url), { skipSelf: true })
    : undefined;
}

/** The anchor of a heading as GitHub makes it, so that links work there and here. */
function slugify(heading) {
  const kept = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '');
  return kept.replaceAll(' ', '-');
}

/** Links to pages of the site stay. A link to any other file leads to the sources, or becomes plain text. */
function mapLinks(markdown) {
  markdown.core.ruler.push('map-links', ({ tokens, env }) => {
    const folder = dirname(env.realPath ?? env.path);
    for (const { children } of tokens) {
      for (const link of children?.filter(({ type }) => type === 'link_open') ?? []) mapLink(link, children, folder);
    }
  });
}

function mapLink(link, tokens, folder) {
  const [path, anchor] = link.attrGet('href').split('#');
  if (path === '' || /^[a-z]+:/.test(path)) return;
  const file = relative(ROOT, join(folder, decodeURI(path)));
  if (file === 'README.md') return link.attrSet('href', anchor ? `/#${anchor}` : '/');
  const isPage = /^(docs\/.*|[^/]*)\.md$/.test(file) || file.startsWith('docs/schemas/');
  if (isPage && existsSync(join(ROOT, file))) return;
  if (SOURCES) return link.attrSet('href', `${SOURCES}/${file}`);
  const start = tokens.indexOf(link);
  const end = tokens.find(({ type }, at) => at > start && type === 'link_close');
  for (const token of [link, end]) Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' });
}
