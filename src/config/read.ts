import { closest } from 'fastest-levenshtein';
import type { z } from 'zod';
import { type FolderUse, whyNotWritable } from './folders';
import { followSecretFile, isOpenToAll, UnusableFileError } from './secret-file';
import { conflictsIn, describeVariable, SECRET_NAMES, VARIABLE_NAMES, type VariableName, variables } from './variables';

/** What is wrong with one variable. None of the texts contains a secret or part of a secret. */
export interface ConfigIssue {
  variable: string;
  expected: string;
  got: string;
  /** What to do. */
  remedy: string;
}

/** The configuration is invalid. The message names every invalid variable. Exit code 78. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly exitCode = 78;

  constructor(readonly issues: readonly ConfigIssue[]) {
    const count = issues.length === 1 ? '1 issue' : `${issues.length} issues`;
    const lines = issues.map((one) => `  ${sentenceOf(one)} ${one.remedy}`);
    const more = 'docs/reference/configuration.md describes every variable.';
    super(`The configuration is invalid, ${count}:\n\n${lines.join('\n')}\n\n${more}`);
  }
}

const NOTHING = 'nothing';
const UNKNOWN_NAME = 'an unknown name';

function sentenceOf({ variable, expected, got }: ConfigIssue): string {
  if (got === NOTHING) return `${variable} is not set.`;
  if (got === UNKNOWN_NAME) return `${variable}: unknown variable.`;
  return `${variable}: expected ${expected}, got ${got}.`;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadOptions {
  /**
   * Called if every user can read the file of a secret, or if the file stops being usable. Default: a line on stderr.
   */
  onProblem?: (problem: string) => void;
  /** A clock in ms, used for the files of secrets. */
  now?: () => number;
  /** The variables that name a folder, each with its use. A folder that does not work for its use is an issue. */
  folders?: Readonly<Partial<Record<VariableName, FolderUse>>>;
}

export type Values<S> = { [Name in keyof S]: S[Name] extends z.ZodType ? z.output<S[Name]> : never };

/** An environment variable with its value, or with the issue that leaves it without a value. */
interface Found {
  name: VariableName;
  /** The text of the variable, or the path of a secret's file. Undefined if neither is set. */
  written?: string | undefined;
  value?: unknown;
  issue?: ConfigIssue | undefined;
}

/**
 * Reads the variables of a section.
 *
 * @param prefixes an unknown variable with one of these prefixes is an issue.
 * @throws ConfigError with every issue.
 */
export function readVariables<S extends Partial<typeof variables>>(
  section: S,
  env: Environment,
  prefixes: readonly string[],
  options: ReadOptions,
): Values<S> {
  const found = (Object.keys(section) as VariableName[]).map((name) => findVariable(name, env, options));
  const issues = [
    ...found.flatMap(({ issue }) => issue ?? []),
    ...found.flatMap(({ name, value }) => folderIssue(name, value, options.folders?.[name]) ?? []),
    ...conflictIssues(found),
    ...unknownNames(env, prefixes),
  ];
  if (issues.length > 0) throw new ConfigError(issues);
  return Object.fromEntries(found.map(({ name, value }) => [name, value])) as Values<S>;
}

function findVariable(name: VariableName, env: Environment, options: ReadOptions): Found {
  const { onProblem = (problem) => void process.stderr.write(`${problem}\n`), now = Date.now } = options;
  const parser: z.ZodType = variables[name];
  // Compose files unset a variable with an empty value. It counts as a value only if empty is valid, as for a prefix.
  const written = env[name] === '' && !parser.safeParse('').success ? undefined : env[name];
  const path = describeVariable(name).secret ? env[`${name}_FILE`] : undefined;
  if (!path) {
    const { data: value, error } = parser.safeParse(written);
    return { name, written, value, issue: error && valueIssue(name, written, error) };
  }
  if (written !== undefined) {
    const expected = `either ${name} or ${name}_FILE`;
    return { name, issue: { variable: name, expected, got: 'both', remedy: 'Remove one of them.' } };
  }
  try {
    const file = { path, parser: parser as z.ZodType<() => unknown>, now };
    const onFileProblem = (problem: string) => onProblem(`${name}_FILE: ${problem}`);
    const value = followSecretFile({ ...file, onProblem: onFileProblem });
    if (isOpenToAll(path))
      onFileProblem(`every user of this machine can read the file ${path}; run chmod 600 to prevent that`);
    return { name, written: path, value };
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error;
    return { name, written: path, issue: fileIssue(name, error.message) };
  }
}

function valueIssue(name: VariableName, written: string | undefined, error: z.ZodError): ConfigIssue {
  const { expected, example, secret, hidden, command } = describeVariable(name);
  const issue = { variable: name, expected };
  if (written !== undefined) {
    const got = hidden ? String(error.issues[0]?.message) : shown(written);
    const remedy =
      command === undefined ? `Set it like this: ${name}=${example}.` : `${runAdvice(command)} and paste its output.`;
    return { ...issue, got, remedy };
  }
  if (!secret) return { ...issue, got: NOTHING, remedy: `Set it to a value such as ${example}.` };
  const make = command === undefined ? '' : ` ${runAdvice(command)} to make one.`;
  const remedy = `Set it to ${example}, or ${name}_FILE to the path of a file that contains it.${make}`;
  return { ...issue, got: NOTHING, remedy };
}

function fileIssue(name: VariableName, got: string): ConfigIssue {
  const { expected, example, command } = describeVariable(name);
  const content = command === undefined ? example : `the output of \`${command}\``;
  const remedy = `Put ${content} into that file, and let this user read it.`;
  return { variable: `${name}_FILE`, expected: `the path of a file that contains ${expected}`, got, remedy };
}

/** @param command is never suggested as a value: `.env` is not a shell script, so nothing would run it. */
function runAdvice(command: string): string {
  return `Run \`${command}\``;
}

function folderIssue(name: VariableName, value: unknown, use: FolderUse | undefined): ConfigIssue | undefined {
  const problem = use && typeof value === 'string' ? whyNotWritable(value, use) : undefined;
  if (!problem) return undefined;
  const got = `${shown(String(value))}, which is not writable (${problem.reason})`;
  return { variable: name, expected: 'a writable folder', got, remedy: problem.remedy };
}

function conflictIssues(found: readonly Found[]): ConfigIssue[] {
  const texts = found.map(({ name, written }) => [name, written ?? describeVariable(name).default]);
  const read = Object.fromEntries(texts) as Partial<Record<VariableName, string>>;
  return conflictsIn(read).flatMap((conflict) => {
    const own = found.find(({ name }) => name === conflict.variable);
    if (!own || own.issue) return [];
    const got = own.written === undefined ? `${read[own.name]} (the default)` : shown(own.written);
    return [{ got, ...conflict }];
  });
}

/** Kubernetes sets these in every container if a service is called `delivery` or `partner`. */
const SERVICE_LINK = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** An unknown variable with a known prefix is probably misspelt. The default would silently be used instead. */
function unknownNames(env: Environment, prefixes: readonly string[]): ConfigIssue[] {
  const known: string[] = [...VARIABLE_NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`)];
  const isUnknown = (name: string) =>
    prefixes.some((prefix) => name.startsWith(prefix)) && !known.includes(name) && !SERVICE_LINK.test(name);
  const unknown = Object.keys(env).filter(isUnknown).toSorted();
  const issue = { expected: 'a known variable name', got: UNKNOWN_NAME };
  return unknown.map((variable) => {
    return {
      variable,
      ...issue,
      remedy: `Did you mean ${closest(variable, known)}? Rename or remove it.`,
    };
  });
}

const MAX_SHOWN_LENGTH = 60;

function shown(written: string): string {
  return JSON.stringify(written.length > MAX_SHOWN_LENGTH ? `${written.slice(0, MAX_SHOWN_LENGTH - 1)}…` : written);
}
