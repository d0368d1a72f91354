import { runStarter } from '../../src/cli';

type Context = Parameters<typeof runStarter>[1];

const unneeded = () => {
  throw new Error('this command must not use this dependency');
};

/** Runs a command of the starter in this process. It fails if it uses a dependency that `given` lacks. */
export async function runCommand(args: readonly string[], given: Partial<Context> = {}) {
  const shown = { printed: '', said: '' };
  const code = await runStarter(['node', 'starter', ...args], {
    exitCode: 0,
    out: { json: false, write: (text) => void (shown.printed += text), note: (text) => void (shown.said += text) },
    loadEnvFile: () => undefined,
    doctor: unneeded,
    partner: unneeded,
    schedule: unneeded,
    taskQueue: () => 'fulfilment',
    temporal: unneeded,
    temporalUiUrl: () => undefined,
    ...given,
  });
  return { code, ...shown };
}
