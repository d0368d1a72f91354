import { messageOf } from './find-tool.mjs';
import { say } from './progress.mjs';

/**
 * Runs a script's main function: its failure is one message without a stack, and exit code 1.
 *
 * @param {() => Promise<number | void>} main may return the exit code
 */
export async function runMain(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    say(messageOf(error));
    process.exitCode = 1;
  }
}
