import { throwawayProject, type ThrowawayProject } from './throwaway-project';

const importing = (from: string) => `import { a } from '${from}'; export const b = a;`;
const importingType = (from: string) => `import type { A } from '${from}'; export type B = A;`;

/**
 * For each module what it must not import, in every form that an import can take. All of them are linted in one run of the
 * real configuration, and each file must be refused for the reason given; the allowed ones must not be.
 */
const REFUSED: readonly [file: string, code: string, reason: string][] = [
  ['src/domain/package.ts', importing('zod'), 'domain may not import zod. It may import only itself.'],
  ['src/domain/type.ts', importingType('undici'), 'domain may not import undici'],
  ['src/domain/node.ts', importing('node:fs'), 'domain may not import node'],
  ['src/domain/bare-node.ts', importing('fs'), 'domain may not import node'],
  ['src/domain/module.ts', importingType('../contracts/ok'), 'domain may not import contracts'],
  ['src/domain/deep/module.ts', importing('../../contracts/ok'), 'domain may not import contracts'],
  ['src/domain/re-export.ts', "export { z } from 'zod';", 'domain may not import zod'],
  ['src/domain/re-export-type.ts', "export type { Client } from 'undici';", 'domain may not import undici'],
  ['src/domain/re-export-all.ts', "export * from '../contracts/ok';", 'domain may not import contracts'],
  ['src/domain/dynamic.ts', "export const a = import('undici');", 'domain may not import undici'],
  ['src/domain/type-of.ts', "export type A = import('undici').Client;", 'domain may not import undici'],
  ['src/domain/require.ts', "export const a: unknown = require('undici');", 'domain may not import undici'],
  ['src/domain/template.ts', 'export const a: unknown = require(`undici`);', 'domain may not import undici'],
  ['src/domain/resolve.ts', "export const a: unknown = require.resolve('undici');", 'domain may not import undici'],
  ['src/domain/equals.ts', "import a = require('undici'); export const b = a;", 'domain may not import undici'],
  ['src/domain/computed.ts', "const a = 'un' + 'dici'; export const b = import(a);", 'only known when it runs'],
  ['src/domain/config.ts', importing('../config'), 'domain may not import config'],
  ['src/domain/outside.ts', importing('../../test/helper'), 'domain may not import ../test'],
  ['src/contracts/value.ts', importing('../domain/ok'), 'write "import type"'],
  ['src/contracts/files.ts', importing('node:fs'), 'contracts may not import node'],
  ['src/workflows/event-id.ts', importing('../contracts/event-id'), 'workflows may not import contracts/event-id'],
  ['src/contracts/zod.ts', importing('zod'), 'contracts may not import zod'],
  ['src/contracts/activities.ts', importingType('../activities/ok'), 'contracts may not import activities'],
  ['src/workflows/activities.ts', importingType('../activities/ok'), 'workflows may not import activities'],
  ['src/workflows/partner.ts', importing('../partner/ok'), 'workflows may not import partner'],
  ['src/workflows/activity.ts', importing('@temporalio/activity'), 'workflows may not import @temporalio/activity'],
  ['src/workflows/internal.ts', importing('@temporalio/client/lib/x'), 'workflows may not import @temporalio/client'],
  ['src/partner/temporal.ts', importing('@temporalio/client'), 'partner may not import @temporalio/client'],
  ['src/partner/workflows.ts', importingType('../workflows/ok'), 'partner may not import workflows'],
  ['src/delivery/partner.ts', importing('../partner/ok'), 'delivery may not import partner'],
  ['src/activities/workflows.ts', importing('../workflows/ok'), 'activities may not import workflows'],
  ['src/activities/worker.ts', importing('@temporalio/worker'), 'activities may not import @temporalio/worker'],
  ['src/activities/config.ts', importing('../config'), 'activities may not import config'],
  ['src/temporal/client/partner.ts', importing('../../partner/ok'), 'temporal/client may not import partner'],
  ['src/temporal/client/zod.ts', importing('zod'), 'temporal/client may not import zod'],
  [
    'src/temporal/client/worker.ts',
    importingType('@temporalio/worker'),
    'temporal/client may not import @temporalio/worker',
  ],
  ['src/temporal/client/other-half.ts', importing('../worker/ok'), 'temporal/client may not import temporal/worker'],
  ['src/temporal/worker/domain.ts', importing('../../domain/ok'), 'temporal/worker may not import domain'],
  ['src/metrics/partner.ts', importing('../partner/ok'), 'write "import type"'],
  ['src/starter/bridge.ts', importing('../temporal/worker/ok'), 'starter may not import temporal/worker'],
  ['src/cli/bridge.ts', importing('../temporal/worker/ok'), 'cli may not import temporal/worker'],
  ['src/starter/worker.ts', importing('@temporalio/worker'), 'starter may not import @temporalio/worker'],
  ['src/starter/temporal-worker.ts', importing('../temporal/worker/ok'), 'starter may not import temporal/worker'],
  ['src/starter/delivery.ts', importing('../delivery/ok'), 'starter may not import delivery'],
  ['src/sandbox/partner.ts', importing('../partner/ok'), 'sandbox may not import partner'],
  ['src/sandbox/domain.ts', importingType('../domain/ok'), 'sandbox may not import domain'],
  ['src/sandbox/undici.ts', importing('undici'), 'sandbox may not import undici'],
  ['src/config.ts', importing('./domain/ok'), 'config may not import domain'],
  ['src/temporal/beside.ts', 'export const a = 1;', 'The module temporal has no row'],
  ['src/attic/new.ts', 'export const a = 1;', 'The module attic has no row'],
];

const ALLOWED: Readonly<Record<string, string>> = {
  'src/domain/ok.ts': "export const a = 1; export type A = 1; export type { A as B } from './own';",
  'src/domain/own.ts': 'export type A = 1;',
  'src/contracts/ok.ts':
    "import type { A } from '../domain/ok'; export type { A } from '../domain/ok'; export const a: A = 1;",
  'src/workflows/ok.ts':
    "import { sleep } from '@temporalio/workflow'; import { a } from '../domain/ok'; export { sleep, a };",
  'src/partner/ok.ts': "import { z } from 'zod'; import { hash } from 'node:crypto'; export const a = [z, hash];",
  'src/delivery/ok.ts':
    "import { request } from 'undici'; import { a as b } from '../contracts/ok'; export const a = [b, request];",
  'src/activities/ok.ts':
    "import { a as b } from '../partner/ok'; import { a as c } from '../delivery/ok'; export const a = [b, c];",
  'src/contracts/event-id.ts': "import { hash } from 'node:crypto'; export const a = hash;",
  'src/temporal/client/ok.ts': "import { Client } from '@temporalio/client'; export const a = Client;",
  'src/temporal/worker/ok.ts':
    "import { Worker } from '@temporalio/worker'; import { a as b } from '../client/ok'; export const a = [Worker, b];",
  'src/starter/ok.ts': "import { Client } from '@temporalio/client'; export const a = Client;",
  'src/sandbox/ok.ts': "import { createServer } from 'node:http'; export const a = createServer;",
  'src/demo/ok.ts':
    "import { a } from '../sandbox/ok'; import { a as b } from '../workflows/ok'; export const c = [a, b];",
  'src/worker.ts':
    "import { a } from './activities/ok'; import { config } from './config'; export const b = [a, config];",
  'src/starter.ts': "export { a } from './starter/ok';",
  'test/helper.ts': "export { a } from '../src/domain/ok';",
};

let project: ThrowawayProject;
let complaints: Map<string, string[]>;

beforeAll(async () => {
  const refused = Object.fromEntries(REFUSED.map(([file, code]) => [file, `${code}\n`]));
  project = await throwawayProject({ ...refused, ...ALLOWED });
  complaints = await lint(project);
});
afterAll(() => project.dispose());

/** The complaints of the rule, by file. */
async function lint({ run }: ThrowawayProject): Promise<Map<string, string[]>> {
  const { output } = await run('oxlint/bin/oxlint', ['src', 'test', '--format=json']);
  const { diagnostics } = JSON.parse(output.slice(output.indexOf('{'))) as {
    diagnostics: { code: string; message: string; filename: string }[];
  };
  const found = new Map<string, string[]>();
  for (const { code, message, filename } of diagnostics) {
    if (code.includes('may-import')) found.set(filename, [...(found.get(filename) ?? []), message]);
  }
  return found;
}

test.each(REFUSED)('%s is refused: %s', (file, _code, reason) => {
  expect(complaints.get(file)).toEqual([expect.stringContaining(reason)]);
});

test.each(Object.keys(ALLOWED))(
  '%s is allowed, so that the rule does not stand in the way of what it protects',
  (file) => {
    expect(complaints.get(file)).toBeUndefined();
  },
);
