import type { Command } from 'commander';
import { PROGRAM } from '../contracts/operator-commands';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A position in a command line, with the words that may follow. */
interface Place {
  /** The preceding commands: none, `status`, or `schedule pause`. */
  path: string;
  words: { word: string; description: string }[];
  /** The options that take one of a fixed set of values. */
  values: { option: string; choices: readonly string[] }[];
}

/** Returns a completion script for the name `fulfilment`, made from the definitions of the commands. */
export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program);
  if (shell === 'fish') return fishScript(places);
  const bash = bashScript(places);
  return shell === 'bash'
    ? bash
    : `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

function placesOf(command: Command, path: readonly string[] = []): Place[] {
  const commands = command.commands.map((sub) => ({ word: sub.name(), description: sub.description() }));
  const options = command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ word: long, description }] : []));
  const values = command.options.flatMap(({ long, argChoices }) =>
    long && argChoices ? [{ option: long, choices: argChoices }] : [],
  );
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const own = choices.map((word) => ({ word, description: '' }));
  const here = { path: path.join(' '), words: [...commands, ...own, ...options], values };
  return [here, ...command.commands.flatMap((sub) => placesOf(sub, [...path, sub.name()]))];
}

/** Zsh runs it, too, through bashcompinit. */
function bashScript(places: readonly Place[]): string {
  const values = places.flatMap(({ path, values: own }) =>
    own.map(({ option, choices }) => `    '${path} ${option}') words='${choices.join(' ')}' ;;`),
  );
  const words = places.map(
    (place) => `    '${place.path}') words='${place.words.map(({ word }) => word).join(' ')}' ;;`,
  );
  const groups = places.filter(({ path }) => places.some((other) => other.path.startsWith(`${path} `) && path !== ''));
  return `${HEADER}
_fulfilment() {
  local words='' path="\${COMP_WORDS[1]}"
  [ "$COMP_CWORD" -le 1 ] && path=''
  case "$path" in ${groups.map(({ path }) => path).join('|')}) [ "$COMP_CWORD" -gt 2 ] && path="$path \${COMP_WORDS[2]}" ;; esac
  case "$path" in
${words.join('\n')}
  esac
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _fulfilment fulfilment
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, values }) => {
    const when =
      path === ''
        ? '__fish_use_subcommand'
        : path
            .split(' ')
            .map((name) => `__fish_seen_subcommand_from ${name}`)
            .join('; and ');
    const lineOf = (rest: string) => `complete -c fulfilment -n '${when}' ${rest}`;
    return words.map(({ word, description }) => {
      const { choices = [] } = values.find(({ option }) => option === word) ?? {};
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
      const which = choices.length > 0 ? ` -x -a '${choices.join(' ')}'` : '';
      return lineOf(`${what}${which} -d '${description.replace(/['\\]/g, '\\$&')}'`);
    });
  });
  return `${HEADER}\ncomplete -c fulfilment -f\n${lines.join('\n')}\n`;
}

const HEADER = `# Completes the name fulfilment. To use it for ${PROGRAM}: alias fulfilment='${PROGRAM}'`;
