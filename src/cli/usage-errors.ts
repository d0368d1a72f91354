import type { Command, CommanderError } from 'commander';
import { command as asTyped } from '../contracts/operator-commands';

export const USAGE = 2;

/** A wrong command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = USAGE;
}

/** Explains what the parser found wrong with a command line. */
export function explainUsage(command: Command, { code, message }: CommanderError): UsageError {
  const [line = '', hint = ''] = message.replace(/^error: /, '').split('\n');
  const [, written = ''] = /'(.*)'/.exec(line) ?? [];
  const [, similar] = /\(Did you mean (?:one of )?(.+)\?\)/.exec(hint) ?? [];
  const pathOf = pathTo(command);
  switch (code) {
    case 'commander.unknownCommand': {
      const names = command.commands.map((one) => one.name()).join(', ');
      return new UsageError(`Unknown command: ${pathOf(written)}. ${suggest(similar, `The commands are ${names}.`)}`);
    }
    case 'commander.unknownOption': {
      const names = command.options.map(({ long, short }) => long ?? short).join(', ');
      const all = names === '' ? 'There are none.' : `The options are ${names}.`;
      return new UsageError(`Unknown option: ${written}. ${suggest(similar, all)}`);
    }
    case 'commander.missingArgument': {
      const name = written.toUpperCase();
      // Commander's own usage shows no options.
      const usage = command.usage().startsWith('[options]') ? name : command.usage();
      return new UsageError(`${name} is missing: ${asTyped(pathOf(usage))}`);
    }
    case 'commander.optionMissingArgument':
      return new UsageError(
        `A value is missing after ${written.split(' ')[0]}: ${written.replace(/<(.+)>/, upperCased)}`,
      );
    case 'commander.excessArguments':
      return new UsageError(
        `Too many arguments. Options begin with --. ${asTyped(pathOf('--help'))} lists the arguments and options.`,
      );
    case 'commander.help':
      return new UsageError('No command was given.');
    default:
      return new UsageError(`${line.charAt(0).toUpperCase()}${line.slice(1)}`);
  }
}

function suggest(similar: string | undefined, otherwise: string): string {
  return similar === undefined ? otherwise : `Did you mean ${similar}?`;
}

/** Makes the words to type after the program: the command, then more. */
function pathTo(command: Command): (words: string) => string {
  const names: string[] = [];
  for (let next: Command | null = command; next?.parent; next = next.parent) names.unshift(next.name());
  return (words) => [...names, words].join(' ');
}

function upperCased(_: string, name: string): string {
  return name.toUpperCase();
}
