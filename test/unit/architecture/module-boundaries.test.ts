import { throwawayProject, type ThrowawayProject } from './throwaway-project';

/**
 * For each module what it must not import, in every form that an import can take. All of them are linted in one run of the
 * real configuration, and each file must be refused for the reason given; the allowed ones must not be.
 */
const REFUSED: readonly [file: string, code: string, reason: string][] = [
  ['src/domain/package.ts', "import { z } from 'zod'; export const a = z;", 'domain may not import zod'],
  [
    'src/domain/type.ts',
    "import type { Client } from 'undici'; export type A = Client;",
    'domain may not import undici',
  ],
  [
    'src/domain/node.ts',
    "import { readFileSync } from 'node:fs'; export const a = readFileSync;",
    'domain may not import node',
  ],
  [
    'src/domain/bare-node.ts',
    "import { readFileSync } from 'fs'; export const a = readFileSync;",
    'domain may not import node',
  ],
  [
    'src/domain/module.ts',
    "import type { A } from '../contracts/ok'; export type B = A;",
    'domain may not import contracts',
  ],
  [
    'src/domain/deep/module.ts',
    "import { a } from '../../contracts/ok'; export const b = a;",
    'domain may not import contracts',
  ],
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
  [
    'src/domain/config.ts',
    "import { config } from '../config'; export const a = config;",
    'domain may not import config',
  ],
  [
    'src/domain/outside.ts',
    "import { a } from '../../test/helper'; export const b = a;",
    'domain may not import ../test',
  ],
  ['src/contracts/value.ts', "import { a } from '../domain/ok'; export const b = a;", 'write "import type"'],
  [
    'src/contracts/files.ts',
    "import { readFileSync } from 'node:fs'; export const a = readFileSync;",
    'contracts may not import node',
  ],
  [
    'src/workflows/event-id.ts',
    "import { a } from '../contracts/event-id'; export const b = a;",
    'workflows may not import contracts/event-id',
  ],
  ['src/contracts/zod.ts', "import { z } from 'zod'; export const a = z;", 'contracts may not import zod'],
  [
    'src/contracts/activities.ts',
    "import type { a } from '../activities/ok'; export type A = typeof a;",
    'contracts may not import activities',
  ],
  [
    'src/workflows/activities.ts',
    "import type { a } from '../activities/ok'; export type A = typeof a;",
    'workflows may not import activities',
  ],
  [
    'src/workflows/partner.ts',
    "import { a } from '../partner/ok'; export const b = a;",
    'workflows may not import partner',
  ],
  [
    'src/workflows/activity.ts',
    "import { log } from '@temporalio/activity'; export const a = log;",
    'workflows may not import @temporalio/activity',
  ],
  [
    'src/workflows/internal.ts',
    "import { a } from '@temporalio/client/lib/x'; export const b = a;",
    'workflows may not import @temporalio/client',
  ],
  [
    'src/partner/temporal.ts',
    "import { Client } from '@temporalio/client'; export const a = Client;",
    'partner may not import @temporalio/client',
  ],
  [
    'src/partner/workflows.ts',
    "import type { A } from '../workflows/ok'; export type B = A;",
    'partner may not import workflows',
  ],
  [
    'src/delivery/partner.ts',
    "import { a } from '../partner/ok'; export const b = a;",
    'delivery may not import partner',
  ],
  [
    'src/activities/workflows.ts',
    "import { a } from '../workflows/ok'; export const b = a;",
    'activities may not import workflows',
  ],
  [
    'src/activities/worker.ts',
    "import { Worker } from '@temporalio/worker'; export const a = Worker;",
    'activities may not import @temporalio/worker',
  ],
  [
    'src/activities/config.ts',
    "import { config } from '../config'; export const a = config;",
    'activities may not import config',
  ],
  [
    'src/temporal/client/partner.ts',
    "import { a } from '../../partner/ok'; export const b = a;",
    'temporal/client may not import partner',
  ],
  ['src/temporal/client/zod.ts', "import { z } from 'zod'; export const a = z;", 'temporal/client may not import zod'],
  [
    'src/temporal/client/worker.ts',
    "import type { Worker } from '@temporalio/worker'; export type A = Worker;",
    'temporal/client may not import @temporalio/worker',
  ],
  [
    'src/temporal/client/other-half.ts',
    "import { a } from '../worker/ok'; export const b = a;",
    'temporal/client may not import temporal/worker',
  ],
  [
    'src/temporal/worker/contracts.ts',
    "import { a } from '../../contracts/ok'; export const b = a;",
    'temporal/worker may not import contracts',
  ],
  [
    'src/starter/bridge.ts',
    "import { a } from '../temporal/worker/ok'; export const b = a;",
    'starter may not import temporal/worker',
  ],
  [
    'src/cli/bridge.ts',
    "import { a } from '../temporal/worker/ok'; export const b = a;",
    'cli may not import temporal/worker',
  ],
  [
    'src/starter/worker.ts',
    "import { Worker } from '@temporalio/worker'; export const a = Worker;",
    'starter may not import @temporalio/worker',
  ],
  [
    'src/starter/temporal-worker.ts',
    "import { a } from '../temporal/worker/ok'; export const b = a;",
    'starter may not import temporal/worker',
  ],
  [
    'src/starter/delivery.ts',
    "import { a } from '../delivery/ok'; export const b = a;",
    'starter may not import delivery',
  ],
  [
    'src/sandbox/partner.ts',
    "import { a } from '../partner/ok'; export const b = a;",
    'sandbox may not import partner',
  ],
  [
    'src/sandbox/domain.ts',
    "import type { A } from '../domain/ok'; export type B = A;",
    'sandbox may not import domain',
  ],
  [
    'src/sandbox/undici.ts',
    "import { request } from 'undici'; export const a = request;",
    'sandbox may not import undici',
  ],
  ['src/config.ts', "import { a } from './domain/ok'; export const config = a;", 'config may not import domain'],
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
