import { throwawayProject } from './throwaway-project';

const importing = (from: string) => `import { a } from '${from}'; export const b = a;`;
const importingType = (from: string) => `import type { A } from '${from}'; export type B = A;`;

/** One run of the real configuration lints all files. Each must be rejected for the given reason. */
const REJECTED: readonly [file: string, code: string, reason: string][] = [
  // Each form of an import.
  ['src/domain/package.ts', importing('zod'), 'domain may not import zod. It may import only itself.'],
  ['src/domain/type.ts', importingType('undici'), 'domain may not import undici'],
  ['src/domain/node.ts', importing('node:fs'), 'domain may not import node'],
  ['src/domain/bare-node.ts', importing('fs'), 'domain may not import node'],
  ['src/domain/deep/module.ts', importing('../../contracts/ok'), 'domain may not import contracts'],
  ['src/domain/re-export-all.ts', "export * from '../contracts/ok';", 'domain may not import contracts'],
  ['src/domain/dynamic.ts', "export const a = import('undici');", 'domain may not import undici'],
  ['src/domain/require.ts', "export const a: unknown = require('undici');", 'domain may not import undici'],
  ['src/domain/equals.ts', "import a = require('undici'); export const b = a;", 'domain may not import undici'],
  ['src/domain/computed.ts', "const a = 'un' + 'dici'; export const b = import(a);", 'only known at run time'],
  ['src/domain/outside.ts', importing('../../test/helper'), 'domain may not import ../test'],
  // Boundaries between modules.
  ['src/contracts/client.ts', importing('@temporalio/client'), 'contracts may not import @temporalio/client'],
  ['src/metrics/partner.ts', importing('../partner/ok'), 'write "import type"'],
  ['src/workflows/activities.ts', importingType('../activities/ok'), 'workflows may not import activities'],
  ['src/workflows/activity.ts', importing('@temporalio/activity'), 'workflows may not import @temporalio/activity'],
  ['src/workflows/internal.ts', importing('@temporalio/client/lib/x'), 'workflows may not import @temporalio/client'],
  ['src/partner/workflows.ts', importingType('../workflows/ok'), 'partner may not import workflows'],
  ['src/activities/worker.ts', importing('@temporalio/worker'), 'activities may not import @temporalio/worker'],
  ['src/starter/worker.ts', importing('@temporalio/worker'), 'starter may not import @temporalio/worker'],
  ['src/config.ts', importing('./domain/ok'), 'config may not import domain'],
  ['src/attic/new.ts', 'export const a = 1;', 'The module attic has no row'],
  ['sandbox/domain.ts', importingType('../src/domain/ok'), 'is restricted from being used by a pattern'],
  ['sandbox/undici.ts', importing('undici'), 'is restricted from being used by a pattern'],
  // Other rules, each in a module where breaking it would do harm.
  ['src/activities/a.ts', 'const f = async () => 1;\nexport const g = (): void => { f(); };', 'no-floating-promises'],
  ['src/partner/a.ts', 'export const a: any = 1;', 'no-explicit-any'],
  ['src/activities/b.ts', "console.log('a key');", 'no-console'],
  ['src/partner/b.ts', 'export const a = process.env.PARTNER_API_KEY;', 'no-process-env'],
  ['src/temporal/a.ts', "export const a = process.env['TEMPORAL_ADDRESS'];", 'no-process-env'],
  ['src/delivery/a.ts', 'process.exit(1);', 'no-process-exit'],
  ['src/domain/a.ts', 'export const a = (): number => Date.now();', 'no-restricted-globals'],
  ['src/domain/b.ts', 'export const a = (): number => Math.random();', 'no-restricted-properties'],
  ['src/workflows/a.ts', "export function f(a: 'x' | 'y') { switch (a) { case 'x': } }", 'exhaustiveness-check'],
  ['src/workflows/b.ts', "export function f(): never { throw 'nothing'; }", 'only-throw-error'],
  ['src/workflows/d.ts', 'export const a = (f: () => void): unknown => setInterval(f, 1);', 'Use a loop with sleep()'],
  [
    'src/workflows/e.ts',
    'export const a = (f: () => void): unknown => setTimeout(f, 1);',
    'Use sleep() or condition()',
  ],
  ['src/workflows/f.ts', 'export const a = (b: object): unknown => new WeakRef(b);', 'makes a replay differ'],
  ['src/workflows/g.ts', 'export const a = (): number => performance.now();', 'no-restricted-globals'],
  ['src/workflows/c.ts', `export function f(): void {\n${'  f();\n'.repeat(60)}}`, 'max-lines-per-function'],
  ['src/domain/c.ts', "import { d } from './d'; export const c = (): unknown => d;", 'no-cycle'],
];

const ALLOWED: Readonly<Record<string, string>> = {
  'src/domain/d.ts': "import { c } from './c'; export const d = (): unknown => c;",
  'src/domain/ok.ts': 'export const a = 1; export type A = 1;',
  'src/contracts/ok.ts': "import type { A } from '../domain/ok'; export type { A }; export const a: A = 1;",
  'src/workflows/ok.ts': "export { sleep } from '@temporalio/workflow'; export { a } from '../domain/ok';",
  'src/partner/ok.ts': "import { z } from 'zod'; import { hash } from 'node:crypto'; export const a = [z, hash];",
  'src/activities/ok.ts': "import { a as b } from '../partner/ok'; export const a = b;",
  'src/starter/ok.ts': "import { Client } from '@temporalio/client'; export const a = Client;",
  'src/worker.ts': "export { a } from './activities/ok'; export { config } from './config';",
  'sandbox/ok.ts': "import { createServer } from 'node:http'; export const a = createServer;",
  'demo/ok.ts': "export { a } from '../sandbox/ok'; export { a as b } from '../src/workflows/ok';",
  'test/helper.ts': "export { a } from '../src/domain/ok';",
};

/** The lint messages, by file. */
const complaints = new Map<string, string[]>();

beforeAll(async () => {
  const rejected = Object.fromEntries(REJECTED.map(([file, code]) => [file, `${code}\n`]));
  const run = await throwawayProject({ ...rejected, ...ALLOWED });
  const output = await run('oxlint/bin/oxlint', ['src', 'sandbox', 'demo', 'test', '--type-aware', '--format=json']);
  const { diagnostics } = JSON.parse(output.slice(output.indexOf('{'))) as {
    diagnostics: { code: string; message: string; filename: string }[];
  };
  for (const { code, message, filename } of diagnostics) {
    complaints.set(filename, [...(complaints.get(filename) ?? []), `${code}: ${message}`]);
  }
});

test.each(REJECTED)('%s is rejected: %s', (file, _code, reason) => {
  expect(complaints.get(file)).toContainEqual(expect.stringContaining(reason));
});

test('allowed imports are not rejected', () => {
  const imports = Object.keys(ALLOWED).flatMap((file) => complaints.get(file) ?? []);
  expect(imports.filter((complaint) => /may-import|no-restricted-imports/.test(complaint))).toEqual([]);
});
