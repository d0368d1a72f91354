import { throwawayProject } from './throwaway-project';

// TypeScript 7 finds no types in the package `ms`: without `types/ms.d.ts` every Duration would be `any`.
const REJECTED = ["'30 secnods'", 'true'];
const ACCEPTED = ["'30 seconds'", "'30s'", "'1.5h'", '30_000'];

test('a misspelt or wrongly typed duration does not compile, so that it is found before a purchase waits', async () => {
  const naps = [...REJECTED, ...ACCEPTED].map((duration) => `  await sleep(${duration});\n`).join('');
  const code = `import { sleep } from '@temporalio/workflow';\nexport async function nap(): Promise<void> {\n${naps}}\n`;
  const run = await throwawayProject({ 'src/workflows/nap.ts': code });
  const output = await run('typescript/bin/tsc', ['-p', 'tsconfig.json', '--noEmit', '--pretty', 'false']);
  const complaints = output.split('\n').filter((line) => line.startsWith('src/'));
  expect(complaints).toHaveLength(REJECTED.length);
  for (const complaint of complaints) expect(complaint).toContain("is not assignable to parameter of type 'Duration'");
});
