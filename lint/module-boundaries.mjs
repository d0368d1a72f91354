import { isBuiltin } from 'node:module';
import { posix } from 'node:path';

/**
 * What each module of `src/` may import besides itself. `node` is any built-in module, `node:…` a single one. `types:MODULE`
 * allows types only; for a single file it takes precedence over the row of its module. Anything else is rejected. A new module
 * needs a row.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const MODULES = {
  domain: '',
  contracts: 'domain @temporalio/common zod',
  'workflows/policies': 'contracts types:contracts/purchase types:contracts/events domain types:@temporalio/workflow',
  // Zod can't be in a workflow bundle, whose modules are frozen.
  workflows:
    'workflows/policies contracts types:contracts/purchase types:contracts/events domain @temporalio/workflow @temporalio/common',
  partner: 'contracts domain node undici zod',
  'delivery/signature': 'node',
  delivery: 'delivery/signature contracts domain node undici zod',
  report: 'domain node',
  activities:
    'workflows/policies contracts domain partner delivery temporal/client report node types:zod @temporalio/activity @temporalio/common @temporalio/client',
  'temporal/client': 'contracts domain node dataloader @temporalio/client @temporalio/common @temporalio/envconfig',
  'temporal/worker': 'contracts domain temporal/client node @temporalio/worker',
  metrics: 'contracts domain types:partner temporal/client node types:@temporalio/client',
  starter:
    'workflows/policies delivery/signature contracts domain temporal/client node @temporalio/client fastest-levenshtein',
  cli: 'workflows/policies starter partner delivery config tracing contracts domain temporal/client exit node @temporalio/client commander',
  tracing:
    'domain partner delivery temporal/client @opentelemetry/api @opentelemetry/exporter-trace-otlp-http @opentelemetry/resources @opentelemetry/sdk-trace-node @temporalio/interceptors-opentelemetry types:@temporalio/client types:@temporalio/worker',
  config: 'workflows/policies node fastest-levenshtein zod',
  exit: 'node',
  worker: 'anything',
};

// oxlint publishes no types for its contexts and nodes, so they are `any` below.
/** @type {(context: any) => Record<string, (node: any) => void>} */
function create(context) {
  const file = context.filename.replaceAll('\\', '/').split('/src/').at(-1);
  const own = moduleOf(file);
  const allowed = MODULES[own]?.split(' ');
  // The file `starter.ts` assembles the other modules; the folder `starter/` is one of them.
  if (file === 'starter.ts' || allowed?.includes('anything')) return {};
  if (!allowed)
    return { Program: (node) => context.report({ node, message: `The module ${own} has no row in MODULES.` }) };
  /** @type {(node: any, specifier: unknown, isType?: boolean) => void} */
  const check = (node, specifier, isType = false) => {
    const message = complaint(own, allowed, specifier, file, isType);
    if (message) context.report({ node, message });
  };
  /** @type {(node: any) => void} */
  const declaration = (node) => node.source && check(node, node.source.value, isTypeOnly(node));
  // Every form in which one file can import another.
  return {
    ImportDeclaration: declaration,
    ExportNamedDeclaration: declaration,
    ExportAllDeclaration: declaration,
    ImportExpression: (node) => check(node, textOf(node.source)),
    TSImportType: (node) => check(node, textOf(node.source ?? node.argument), true),
    TSExternalModuleReference: (node) => check(node, textOf(node.expression), node.parent?.importKind === 'type'),
    CallExpression: ({ callee: f, arguments: [to] }) => (f.object ?? f).name === 'require' && check(f, textOf(to)),
  };
}

/** @type {(own: string, allowed: string[], specifier: unknown, file: string, isType: boolean) => string | undefined} */
function complaint(own, allowed, specifier, file, isType) {
  if (typeof specifier !== 'string') return `${own} imports a name that is only known at run time.`;
  const path = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined;
  const name = isBuiltin(specifier) ? 'node' : specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const target = path === undefined ? name : moduleOf(path);
  if (path !== undefined && allowed.includes(`types:${path}`)) return isType ? undefined : onlyTypes(own, path);
  if (target === own || allowed.includes(target) || allowed.includes(specifier)) return undefined;
  if (!allowed.includes(`types:${target}`))
    return `${own} may not import ${target}. It may import ${allowed.filter(Boolean).join(', ') || 'only itself'}.`;
  return isType ? undefined : onlyTypes(own, target);
}

/** @type {(own: string, target: string) => string} */
function onlyTypes(own, target) {
  return `${own} may import only types from ${target}: write "import type".`;
}

/** @type {(file: string) => string} of a path inside `src/` */
function moduleOf(file) {
  const path = file.replace(/\.[jt]s$/, '');
  if (path.startsWith('..')) return path;
  return Object.keys(MODULES).find((name) => `${path}/`.startsWith(`${name}/`)) ?? String(path.split('/')[0]);
}

/** @type {(node: any) => boolean} */
function isTypeOnly({ importKind, exportKind, specifiers = [] }) {
  if (importKind === 'type' || exportKind === 'type') return true;
  return specifiers.length > 0 && specifiers.every(isTypeOnly);
}

/** @type {(node: any) => unknown} undefined if it is computed at run time */
function textOf(node) {
  const isPlainTemplate = node?.type === 'TemplateLiteral' && node.expressions.length === 0;
  return isPlainTemplate ? node.quasis[0].value.cooked : (node?.value ?? node?.literal?.value);
}

export default { meta: { name: 'module-boundaries' }, rules: { 'may-import': { create } } };
