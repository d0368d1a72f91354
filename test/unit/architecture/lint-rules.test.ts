import { throwawayProject } from './throwaway-project';

/** What the lint rules must refuse, each in a room where it would do harm. */
const REFUSED: readonly [rule: string, file: string, code: string][] = [
  ['no-floating-promises', 'src/activities/a.ts', 'const f = async () => 1;\nexport const g = (): void => { f(); };'],
  ['no-explicit-any', 'src/partner/a.ts', 'export const a: any = 1;'],
  ['no-console', 'src/activities/b.ts', "console.log('a key');"],
  ['no-process-env', 'src/partner/b.ts', 'export const a = process.env.PARTNER_API_KEY;'],
  ['no-process-env', 'src/temporal/a.ts', "export const a = process.env['TEMPORAL_ADDRESS'];"],
  ['no-process-exit', 'src/delivery/a.ts', 'process.exit(1);'],
  ['no-restricted-globals', 'src/domain/a.ts', 'export const a = (): number => Date.now();'],
  ['no-restricted-properties', 'src/domain/b.ts', 'export const a = (): number => Math.random();'],
  ['switch-exhaustiveness-check', 'src/workflows/a.ts', "export function f(a: 'x' | 'y') { switch (a) { case 'x': } }"],
  ['only-throw-error', 'src/workflows/b.ts', "export function f(): never { throw 'nothing'; }"],
  ['max-lines-per-function', 'src/workflows/c.ts', `export function f(): void {\n${'  f();\n'.repeat(60)}}`],
  ['no-cycle', 'src/domain/c.ts', "import { d } from './d'; export const c = (): unknown => d;"],
];

let output: string;

beforeAll(async () => {
  const files = Object.fromEntries(REFUSED.map(([, file, code]) => [file, `${code}\n`]));
  const other = "import { c } from './c'; export const d = (): unknown => c;";
  const run = await throwawayProject({ ...files, 'src/domain/d.ts': other });
  output = await run('oxlint/bin/oxlint', ['src', '--type-aware', '--format=unix']);
});

test.each(REFUSED)('%s bites in %s', (rule, file) => {
  const complaints = output.split('\n').filter((line) => line.startsWith(file));
  expect(complaints).toContainEqual(expect.stringContaining(`(${rule})`));
});
