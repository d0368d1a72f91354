import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ensureBuild } from './lib/build.mjs';
import { runMain } from './lib/main.mjs';
import { projectRoot } from './lib/places.mjs';
import { ensureDependencies } from './lib/prepare.mjs';

/*
 * Writes what the documentation says of the environment from the configuration's own descriptions: the table of
 * docs/configuration.md, and .env.example. With --check nothing is written; what is out of step is named, exit code 1.
 */

const START = '<!-- variables: written by `node scripts/docs.mjs` -->';
const END = '<!-- end of variables -->';

const OURS_ALONE = ` Durations: 500ms, 30s, 25m, 24h.
# A secret can also be read from a file: NAME_FILE holds the file's path.
# What is commented out has the default that it shows.`;

const TEMPORAL = `
# Temporal's own convention; TEMPORAL_API_KEY, TEMPORAL_TLS and others are there too. Where Temporal's server is.
# TEMPORAL_ADDRESS=localhost:7233

# Temporal's own convention. The namespace.
# TEMPORAL_NAMESPACE=default
`;

/**
 * @typedef {{ name: string, readBy: string, meaning: string, default?: string, required: boolean, secret: boolean,
 *   example: string }} Variable
 */

await runMain(async () => {
  await ensureDependencies();
  await ensureBuild();
  const variables = describedVariables();
  const files = [
    { path: 'docs/configuration.md', render: (/** @type {string} */ before) => withTable(before, variables) },
    { path: '.env.example', render: () => environmentFile(variables) },
  ];
  const stale = [];
  for (const { path, render } of files) {
    const before = await readFile(join(projectRoot, path), 'utf8').catch(() => '');
    const after = render(before);
    if (before === after) continue;
    stale.push(path);
    if (!process.argv.includes('--check')) await writeFile(join(projectRoot, path), after);
  }
  if (!process.argv.includes('--check') || stale.length === 0) return 0;
  process.stderr.write(`Out of step with src/config: ${stale.join(', ')}. Run: node scripts/docs.mjs\n`);
  return 1;
});

/** @returns {Variable[]} */
function describedVariables() {
  const { VARIABLE_NAMES, describeVariable } = createRequire(import.meta.url)(
    join(projectRoot, 'dist/config/variables.js'),
  );
  return VARIABLE_NAMES.map((/** @type {string} */ name) => ({ name, ...describeVariable(name) }));
}

/**
 * @param {string} page
 * @param {Variable[]} variables
 */
function withTable(page, variables) {
  const [before, rest] = page.split(START);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`docs/configuration.md lacks ${START} and ${END}`);
  const rows = variables.map((variable) => {
    const name = variable.secret ? `\`${variable.name}\` or \`${variable.name}_FILE\`` : `\`${variable.name}\``;
    return `| ${name} | ${variable.readBy} | ${defaultOf(variable)} | ${variable.meaning} |`;
  });
  const table = ['| variable | by | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
  return `${before}${START}\n\n${table}\n\n${END}${after}`;
}

/** @param {Variable} variable */
function defaultOf(variable) {
  if (variable.required) return 'required';
  if (variable.default === undefined) return '';
  return variable.default === '' ? 'empty' : `\`${variable.default}\``;
}

/** @param {Variable[]} variables */
function environmentFile(variables) {
  const head = `# Written by scripts/docs.mjs from src/config; docs/configuration.md says more.${OURS_ALONE}\n`;
  const own = variables.map((variable) => {
    const { name, meaning, required, example } = variable;
    const line = required ? `${name}=` : `# ${name}=${variable.default ?? ''}`;
    const hint = required || variable.default === undefined ? ` Example: ${example}` : '';
    return `\n# ${capitalised(meaning.replaceAll('`', ''))}.${hint}\n${line}\n`;
  });
  return head + TEMPORAL + own.join('');
}

/** @param {string} text */
function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
