/*
 * Writes what the documentation says of the environment from the configuration's own descriptions: the table of
 * docs/configuration.md, and .env.example. With --check nothing is written; what is out of step is named, exit code 1.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ensureBuild } from './lib/build.mjs';
import { log } from './lib/log.mjs';
import { projectRoot } from './lib/paths.mjs';

const TABLE = /(<!-- variables:.*?-->).*?(<!-- end of variables -->)/s;

const ENV_HEAD = `# Written by scripts/docs.mjs from src/config; docs/configuration.md says more. Durations: 500ms, 30s, 25m, 24h.
# A secret can also be read from a file: NAME_FILE holds the file's path.
# What is commented out has the default that it shows.

# Temporal's own convention; TEMPORAL_API_KEY, TEMPORAL_TLS and others are there too. Where Temporal's server is.
# TEMPORAL_ADDRESS=localhost:7233

# Temporal's own convention. The namespace.
# TEMPORAL_NAMESPACE=default
`;

/**
 * @typedef {{ name: string, readBy: string, meaning: string, default?: string, required: boolean, secret: boolean,
 *   example: string }} Variable
 */

await ensureBuild();
const check = process.argv.includes('--check');
const config = createRequire(import.meta.url)(join(projectRoot, 'dist/config/variables.js'));
/** @type {Variable[]} */
const variables = config.VARIABLE_NAMES.map((/** @type {string} */ name) => ({
  name,
  ...config.describeVariable(name),
}));

const page = await readFile(join(projectRoot, 'docs/configuration.md'), 'utf8');
if (!TABLE.test(page)) throw new Error(`docs/configuration.md lacks ${TABLE}`);
const rows = ['| variable | by | default | meaning |', '|---|---|---|---|', ...variables.map(tableRow)].join('\n');
await bringUpToDate(
  'docs/configuration.md',
  page.replace(TABLE, (_, start, end) => `${start}\n\n${rows}\n\n${end}`),
);
await bringUpToDate('.env.example', ENV_HEAD + variables.map(environmentLines).join(''));

/**
 * @param {string} file
 * @param {string} text
 */
async function bringUpToDate(file, text) {
  const path = join(projectRoot, file);
  if ((await readFile(path, 'utf8').catch(() => '')) === text) return;
  if (!check) return writeFile(path, text);
  log(`${file} is out of step with src/config. Run: npm run docs`);
  process.exitCode = 1;
}

/** @param {Variable} variable */
function tableRow({ name, readBy, meaning, default: usual, required, secret }) {
  const names = secret ? `\`${name}\` or \`${name}_FILE\`` : `\`${name}\``;
  const shown = usual === '' ? 'empty' : usual && `\`${usual}\``;
  return `| ${names} | ${readBy} | ${required ? 'required' : (shown ?? '')} | ${meaning} |`;
}

/** @param {Variable} variable */
function environmentLines({ name, meaning, default: usual, required, example }) {
  const text = meaning.replaceAll('`', '').replace(/^./, (first) => first.toUpperCase());
  const hint = required || usual === undefined ? ` Example: ${example}` : '';
  return `\n# ${text}.${hint}\n${required ? `${name}=` : `# ${name}=${usual ?? ''}`}\n`;
}
