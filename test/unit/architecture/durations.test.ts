import { throwawayProject, type ThrowawayProject } from './throwaway-project';

// Under TypeScript 7 the package `ms` shows no types, so that without `types/ms.d.ts` every Duration would be `any`.

let project: ThrowawayProject | undefined;
afterEach(() => project?.dispose());

async function compile(duration: string): Promise<{ code: number; output: string }> {
  const code = `import { sleep } from '@temporalio/workflow';\nexport const nap = (): Promise<void> => sleep(${duration});\n`;
  project = await throwawayProject({ 'src/workflows/nap.ts': code });
  return project.run('typescript/bin/tsc', ['-p', 'tsconfig.json', '--noEmit']);
}

test('a duration with a typing error does not compile: it would be found only when a purchase waits', async () => {
  const { code, output } = await compile("'30 secnods'");
  expect(code).not.toBe(0);
  expect(output).toContain("'\"30 secnods\"' is not assignable to parameter of type 'Duration'");
});

test('a duration of another type does not compile', async () => {
  const { output } = await compile('true');
  expect(output).toContain("is not assignable to parameter of type 'Duration'");
});

test.each(["'30 seconds'", "'30s'", "'1.5h'", '30_000'])('%s compiles', async (duration) => {
  expect(await compile(duration)).toEqual({ code: 0, output: '' });
});
