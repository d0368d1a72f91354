import { posix } from 'node:path';
import { isBuiltin } from 'node:module';

/**
 * Who may import whom: each room of `src/` with the rooms and packages that it may use besides itself. `node` is
 * whatever Node itself brings, `node:…` one part of it, `types:ROOM` is that room's types and nothing that runs, `not:FILE`
 * a file of a room that is left out. What
 * is not named is refused, and so is a room without a row: it gets one here and in the architecture's table.
 *
 * @type {Readonly<Record<string, readonly string[] | 'anything'>>}
 */
export const ROOMS = {
  domain: [],
  contracts: ['types:domain', '@temporalio/common', 'node:crypto'],
  exit: ['node'],
  workflows: ['contracts', 'not:contracts/event-id', 'domain', '@temporalio/workflow', '@temporalio/common'],
  partner: ['domain', 'node', 'undici', 'zod'],
  delivery: ['domain', 'node', 'undici', 'zod'],
  report: ['domain', 'node'],
  activities: [
    'contracts',
    'domain',
    'partner',
    'delivery',
    'temporal/client',
    'report',
    'node',
    '@temporalio/activity',
    '@temporalio/common',
    '@temporalio/client',
  ],
  'temporal/client': ['contracts', 'domain', '@temporalio/client', '@temporalio/common', '@temporalio/envconfig'],
  // The only room that touches the native bridge.
  'temporal/worker': ['temporal/client', 'node', '@temporalio/worker'],
  starter: ['contracts', 'domain', 'temporal/client', '@temporalio/client'],
  cli: [
    'starter',
    'partner',
    'delivery',
    'config',
    'contracts',
    'domain',
    'temporal/client',
    'exit',
    '@temporalio/client',
    'commander',
  ],
  sandbox: ['node', 'qrcode', 'zod'],
  config: ['node', 'zod'],
  demo: 'anything',
  worker: 'anything',
};

/** Files that lie in `src/` itself, by their name without `.ts`. `starter.ts` is a process, `starter/` a room. */
const PROCESSES = ['worker.ts', 'starter.ts'];

/**
 * @typedef {{ specifier: unknown, typesOnly: boolean, node: object }} Import
 */

const mayImport = {
  meta: { type: 'problem', schema: [] },
  /** @param {any} context */
  create(context) {
    const file = pathInSrc(context.filename);
    if (file === undefined || PROCESSES.includes(file)) return {};
    const room = roomOf(file);
    const allowed = ROOMS[room];
    if (allowed === 'anything') return {};
    if (!allowed) {
      const message = `The room ${room} has no row in ROOMS.`;
      return { Program: (/** @type {object} */ node) => context.report({ node, message }) };
    }

    /** @param {Import} found */
    const check = ({ specifier, typesOnly, node }) => {
      const complaint = complaintAbout(specifier, typesOnly, file, room, allowed);
      if (complaint) context.report({ node, message: complaint });
    };
    return visitor(check);
  },
};

/**
 * Every form in which one file can reach into another.
 *
 * @param {(found: Import) => void} check
 */
function visitor(check) {
  /** @param {any} node */
  const declaration = (node) => {
    if (node.source) check({ specifier: node.source.value, typesOnly: isTypesOnly(node), node });
  };
  return {
    ImportDeclaration: declaration,
    ExportNamedDeclaration: declaration,
    ExportAllDeclaration: declaration,
    /** @param {any} node */
    ImportExpression: (node) => check({ specifier: textOf(node.source), typesOnly: false, node }),
    /** @param {any} node */
    TSImportType: (node) => check({ specifier: textOf(node.source ?? node.argument), typesOnly: true, node }),
    /** @param {any} node */
    TSExternalModuleReference: (node) => {
      const typesOnly = node.parent?.importKind === 'type';
      check({ specifier: textOf(node.expression), typesOnly, node });
    },
    /** @param {any} node */
    CallExpression: (node) => {
      if (isRequire(node.callee)) check({ specifier: textOf(node.arguments[0]), typesOnly: false, node });
    },
  };
}

/**
 * @param {unknown} specifier
 * @param {boolean} typesOnly
 * @param {string} file
 * @param {string} room
 * @param {readonly string[]} allowed
 * @returns {string | undefined} undefined when the import is allowed
 */
function complaintAbout(specifier, typesOnly, file, room, allowed) {
  if (typeof specifier !== 'string') return `${room} imports something that is only known when it runs.`;
  const target = targetOf(specifier, file);
  const path = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier;
  if (allowed.includes(`not:${path}`)) return `${room} may not import ${path}.`;
  if (target === room || allowed.includes(target) || allowed.includes(path)) return undefined;
  if (allowed.includes(`types:${target}`)) {
    return typesOnly ? undefined : `${room} may import only types from ${target}: write "import type".`;
  }
  return `${room} may not import ${target}. It may import: ${allowed.join(', ') || 'nothing but itself'}.`;
}

/**
 * What an import reaches: a room, a package, or `node`.
 *
 * @param {string} specifier
 * @param {string} file
 */
function targetOf(specifier, file) {
  if (specifier.startsWith('/')) return specifier;
  if (specifier.startsWith('.')) {
    const path = posix.join(posix.dirname(file), specifier);
    return path.startsWith('..') ? path : roomOf(path);
  }
  if (isBuiltin(specifier)) return 'node';
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/**
 * @param {string} file a path inside `src/`
 * @returns {string} its folder there, or for a file in `src/` itself the file's name
 */
function roomOf(file) {
  const [first = '', second = ''] = file.split('/');
  // The one folder that holds two rooms.
  return first === 'temporal' ? `${first}/${second}` : first.replace(/\.[jt]s$/, '');
}

/** @param {string} filename */
function pathInSrc(filename) {
  return filename.replaceAll('\\', '/').split('/src/').at(-1);
}

/** @param {any} node */
function isTypesOnly(node) {
  if (node.importKind === 'type' || node.exportKind === 'type') return true;
  const specifiers = node.specifiers ?? [];
  return specifiers.length > 0 && specifiers.every(isTypeSpecifier);
}

/** @param {any} specifier */
function isTypeSpecifier(specifier) {
  return specifier.importKind === 'type' || specifier.exportKind === 'type';
}

/** @param {any} callee */
function isRequire(callee) {
  if (callee.type === 'MemberExpression') return isRequire(callee.object);
  return callee.type === 'Identifier' && callee.name === 'require';
}

/** @param {any} node */
function textOf(node) {
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0].value.cooked;
  return node?.value ?? node?.literal?.value;
}

export default { meta: { name: 'rooms' }, rules: { 'may-import': mayImport } };
