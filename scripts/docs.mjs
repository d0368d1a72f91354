// Writes the generated parts of the documentation: tables from the configuration, the metrics, the findings, the kept benchmarks
// and the recorded runs; docs/schemas; .env.example; and the alert rules for Kubernetes. With --check it writes nothing, names
// the files that are out of date, and exits with code 1.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ensureBuild } from './lib/build.mjs';
import { cloudActionRows } from './lib/cloud-actions.mjs';
import { eventReference, eventSamples } from './lib/event-docs.mjs';
import { withPart } from './lib/generated-part.mjs';
import { log } from './lib/log.mjs';
import { projectRoot } from './lib/paths.mjs';
import { run } from './lib/run.mjs';
import { schemaFiles } from './lib/schemas.mjs';

/** @typedef {Record<'name' | 'readBy' | 'meaning' | 'example', string> & { default?: string, command?: string, required: boolean, secret: boolean }} Variable */

/** @typedef {{ type: string, unit?: string, meaning: string, labels: Record<string, readonly string[]> }} Metric */

await ensureBuild();
await run('tsc', ['-p', 'bench']);
const load = createRequire(import.meta.url);
const { VARIABLE_NAMES, describeVariable } = load('../dist/config/variables.js');
const { METRICS, shownName } = load('../dist/contracts/metrics.js');
const { renderFigures, renderGoals } = load('../bench/dist/bench/report.js');
const { capacityTable, scalingTable } = load('../bench/dist/bench/scaling.js');
const { FINDING_KIND_NAMES, FINDING_KINDS } = load('../dist/domain/reconciliation/finding.js');
const variables = VARIABLE_NAMES.map((/** @type {string} */ name) => ({ name, ...describeVariable(name) }));
const temporalRow =
  '| `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_TLS_…` | worker, CLI | | the connection to Temporal: [below](#temporal) |';
const rows = [
  '| variable | read by | default | meaning |',
  '|---|---|---|---|',
  temporalRow,
  ...variables.map(tableRow),
];
await replacePart('docs/reference/configuration.md', 'variables', rows);
await replacePart('docs/reference/metrics.md', 'metrics', metricRows());
await replacePart('docs/reference/commands.md', 'commands', commandLists());
await replacePart('docs/performance.md', 'results', [renderGoals()]);
await replacePart('bench/results/README.md', 'figures', [renderFigures()]);
await replacePart('docs/performance.md', 'capacity', [capacityTable()]);
await replacePart('docs/performance.md', 'calculator', [scalingTable()]);
await replacePart('docs/operations.md', 'findings', findingRows());
await replacePart('docs/checkout.md', 'events', await eventSamples());
await replacePart('docs/reference/events.md', 'events', eventReference());
await replacePart('docs/deploying.md', 'actions', await cloudActionRows());
await replaceEnd('.env.example', /(?<=# variables:.*?\n).*/s, variables.map(environmentLines).join(''));
await replaceEnd('ops/kubernetes/monitoring/rules.yaml', /(?<=\nspec:\n).*/s, await alertRules());
for (const [name, schema] of Object.entries(schemaFiles()))
  await writeAtomically(`docs/schemas/${name}`, JSON.stringify(schema));

/** @type {(file: string, name: string, lines: string[]) => Promise<void>} */
async function replacePart(file, name, lines) {
  const before = await readFile(join(projectRoot, file), 'utf8');
  await update(file, before, withPart(before, name, lines.join('\n')));
}

/** @type {(file: string, end: RegExp, text: string) => Promise<void>} */
async function replaceEnd(file, end, text) {
  const before = await readFile(join(projectRoot, file), 'utf8');
  if (!end.test(before)) throw new Error(`${file} lacks ${end}`);
  await update(
    file,
    before,
    before.replace(end, () => text),
  );
}

/** @type {(file: string, json: string) => Promise<void>} */
async function writeAtomically(file, json) {
  const path = join(projectRoot, file);
  const before = await readFile(path, 'utf8').catch(() => undefined);
  await update(file, before, await format(json, { ...(await resolveConfig(path)), parser: 'json' }));
}

/** @type {(file: string, before: string | undefined, after: string) => Promise<void>} */
async function update(file, before, after) {
  if (before === after) return;
  if (process.argv.includes('--check')) {
    log(`${file} is out of date with the code that it is generated from. Run: npm run docs`);
    process.exitCode = 1;
    return;
  }
  await mkdir(dirname(join(projectRoot, file)), { recursive: true });
  await writeFile(join(projectRoot, file), after);
}

/** What Prometheus reads, indented for the Prometheus Operator. */
async function alertRules() {
  const rules = await readFile(join(projectRoot, 'ops/rules.yml'), 'utf8');
  return rules.slice(rules.indexOf('groups:')).replace(/^(?=.)/gm, '  ');
}

/** @returns {string[]} */
function metricRows() {
  const rows = Object.entries(/** @type {Record<string, Metric>} */ (METRICS)).map(([name, metric]) => {
    const { type, labels, meaning } = metric;
    const shown = Object.entries(labels).map(([label, values]) => `\`${label}\`: ${valuesOf(values)}`);
    return `| \`${shownName(name, metric)}\` | ${type} | ${shown.join('; ')} | ${meaning} |`;
  });
  return ['| metric | type | labels | meaning |', '|---|---|---|---|', ...rows];
}

/** @returns {string[]} */
function commandLists() {
  const { commands } = load('../dist/cli/index.js');
  return commands({}).commands.flatMap(commandLines).slice(0, -1);
}

/** @typedef {import('commander').Command} Command */

/** @type {(command: Command) => string[]} */
function commandLines(command) {
  if (command.commands.length > 0) return command.commands.flatMap(commandLines);
  const parents = command.parent?.parent ? [command.parent.name()] : [];
  const name = [...parents, command.name()].join(' ');
  const args = command.registeredArguments.map((one) => {
    const { description, argChoices } = one;
    return { flags: `<${one.name()}>`, mandatory: false, description, argChoices };
  });
  const options = command.options.filter(({ long }) => long !== '--json');
  // The page explains the reference once.
  const explained = [...args.filter(({ flags }) => flags !== '<reference>'), ...options];
  const choices = explained.map(choiceLine);
  const usage = ['npx fulfilment', name, ...args.map(({ flags }) => flags)].join(' ');
  const description = command.description().replace(/\.$/, '');
  const list = choices.length > 0 ? ['', ...choices] : [];
  return [`### ${name}`, '', `\`${usage}\`: ${description}.`, ...list, ''];
}

/**
 * An item for an argument or an option.
 *
 * @type {(choice: { flags: string, mandatory: boolean, description: string, argChoices?: string[] }) => string}
 */
function choiceLine({ flags, mandatory, description, argChoices = [] }) {
  const choices = argChoices.length > 0 ? `: ${valuesOf(argChoices, Infinity)}` : '';
  return `- \`${flags}\`: ${mandatory ? 'required: ' : ''}${description}${choices}`;
}

/** @type {(values: readonly string[], most?: number) => string} */
function valuesOf(values, most = 6) {
  return values.length > most ? `${values.length} values` : values.map((value) => `\`${value}\``).join(', ');
}

/** @returns {string[]} */
function findingRows() {
  const kinds = /** @type {string[]} */ (FINDING_KIND_NAMES);
  const rows = kinds.map((kind) => {
    const { means, does, advice } = FINDING_KINDS[kind];
    return `| \`${kind}\` | ${means} | ${does} | ${advice} |`;
  });
  return ['| kind | what it means | the reconciliation | what you do |', '|---|---|---|---|', ...rows];
}

/** @type {(variable: Variable) => string} */
function tableRow({ name, readBy, meaning, default: usual, required, secret }) {
  const names = secret ? `\`${name}\` or \`${name}_FILE\`` : `\`${name}\``;
  const shown = usual === '' ? 'empty' : usual && `\`${usual}\``;
  return `| ${names} | ${readBy} | ${required ? 'required' : (shown ?? '')} | ${meaning} |`;
}

/** @type {(variable: Variable) => string} */
function environmentLines({ name, meaning, default: usual, required, example, command }) {
  // A value in backticks at the start keeps its case, because it may be copied.
  const text = meaning.replace(/^[^`]/, (first) => first.toUpperCase()).replaceAll('`', '');
  // Only a shell would run the command if it were the value.
  const hint = command === undefined ? ` Example: ${example}` : ` Run this and paste its output: ${command}`;
  // A shell, `node --env-file` and compose all take text in single quotes literally.
  const value = /^[\w.,:/@%+-]*$/.test(usual ?? '') ? (usual ?? '') : `'${usual}'`;
  const assignment = `${name}=${value}`;
  return `\n# ${text}.${required || usual === undefined ? hint : ''}\n${required ? assignment : `# ${assignment}`}\n`;
}
