import { closest } from 'fastest-levenshtein';
import type { z } from 'zod';
import { ConfigError, type ConfigIssue } from './error';
import { type FolderUse, whyNotWritable } from './folders';
import { type FileContent, followSecretFile, readSecretFile, UnusableFileError } from './secret-file';
import { conflictsOf, describeVariable, SECRET_NAMES, VARIABLE_NAMES, type VariableName, variables } from './variables';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadOptions {
  /** Called when the file of a secret can't be used any more. Default: a line on stderr. */
  onProblem?: (problem: string) => void;
  /** A clock in ms, for the files of secrets. */
  now?: () => number;
  /** Variables that name a folder, each with its use: a folder that can't be used so is an issue. */
  folders?: Readonly<Partial<Record<VariableName, FolderUse>>>;
}

export type Values<S> = { [Name in keyof S]: S[Name] extends z.ZodType ? z.output<S[Name]> : never };

/** A variable as it stands in the environment: with a value, or with the issue why it has none. */
interface Found {
  name: VariableName;
  /** The text of the variable, or of the file of a secret; undefined where it is not set. */
  written?: string | undefined;
  file?: { path: string; content: FileContent };
  value?: unknown;
  issue?: ConfigIssue | undefined;
}

/**
 * Reads the variables of some sections.
 *
 * @param prefixes an unknown variable that begins with one of these is refused.
 * @throws ConfigError with every issue.
 */
export function readVariables<S extends Partial<typeof variables>>(
  section: S,
  env: Environment,
  prefixes: readonly string[],
  { onProblem = (problem) => void process.stderr.write(`${problem}\n`), now = Date.now, folders = {} }: ReadOptions,
): Values<S> {
  const found = (Object.keys(section) as VariableName[]).map((name) => findVariable(name, env));
  const issues = [
    ...found.flatMap(({ issue }) => issue ?? []),
    ...found.flatMap(({ name, value }) => folderIssue(name, value, folders[name]) ?? []),
    ...conflictIssues(found),
    ...unknownNames(env, prefixes),
  ];
  if (issues.length > 0) throw new ConfigError(issues);
  const values = found.map(({ name, file, value }) => {
    const parser = variables[name] as z.ZodType<() => unknown>;
    return [name, file ? followSecretFile({ ...file, variable: `${name}_FILE`, parser, onProblem, now }) : value];
  });
  return Object.fromEntries(values) as Values<S>;
}

function findVariable(name: VariableName, env: Environment): Found {
  const parser: z.ZodType = variables[name];
  // Compose files leave a variable out by an empty one. Where empty is a value, as for a prefix, it is taken as that.
  const written = env[name] === '' && !parser.safeParse('').success ? undefined : env[name];
  const path = describeVariable(name).secret ? env[`${name}_FILE`] : undefined;
  if (!path) {
    const { data, error } = parser.safeParse(written);
    return { name, written, value: data, issue: error && valueIssue(name, written, error) };
  }
  if (written !== undefined) {
    const expected = `either ${name} or ${name}_FILE`;
    return { name, issue: { variable: name, expected, got: 'both', remedy: 'Remove one of them.' } };
  }
  try {
    const content = readSecretFile(path);
    const { error } = parser.safeParse(content.text);
    const issue = error && fileIssue(name, `in the file ${path}: ${error.issues[0]?.message}`);
    return { name, written: content.text, file: { path, content }, issue };
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error;
    return { name, issue: fileIssue(name, error.message) };
  }
}

function valueIssue(name: VariableName, written: string | undefined, error: z.ZodError): ConfigIssue {
  const { expected, example, secret, hidden } = describeVariable(name);
  if (written !== undefined) {
    const got = hidden ? String(error.issues[0]?.message) : shown(written);
    return { variable: name, expected, got, remedy: `Write it like ${name}=${example}.` };
  }
  const remedy = secret
    ? `Set ${name} to ${example}, or ${name}_FILE to the path of a file that holds it.`
    : `Set ${name}=${example}.`;
  return { variable: name, expected, got: 'nothing', remedy };
}

function fileIssue(name: VariableName, got: string): ConfigIssue {
  const { expected, example } = describeVariable(name);
  const remedy = `Put ${example} into that file, and let this user read it.`;
  return { variable: `${name}_FILE`, expected: `the path of a file that holds ${expected}`, got, remedy };
}

function folderIssue(name: VariableName, value: unknown, use: FolderUse | undefined): ConfigIssue | undefined {
  const problem = use && typeof value === 'string' ? whyNotWritable(value, use) : undefined;
  if (!problem) return undefined;
  const got = `${shown(String(value))}, which can't (${problem.why})`;
  return { variable: name, expected: 'a folder that can be written', got, remedy: problem.remedy };
}

function conflictIssues(found: readonly Found[]): ConfigIssue[] {
  const gotOf = ({ name, written }: Found) =>
    written === undefined ? `${describeVariable(name).default} (the default)` : shown(written);
  const read = new Map(found.map(({ name, written }) => [name, written ?? describeVariable(name).default]));
  return conflictsOf(read).flatMap((conflict) => {
    const own = found.find(({ name }) => name === conflict.variable);
    return own && !own.issue ? [{ got: gotOf(own), ...conflict }] : [];
  });
}

/** Kubernetes puts these into every container for a service that happens to be called `delivery` or `partner`. */
const SERVICE_LINK = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** An unknown variable with our prefix is most likely misspelt, and the default would silently be used. */
function unknownNames(env: Environment, prefixes: readonly string[]): ConfigIssue[] {
  const known: string[] = [...VARIABLE_NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`)];
  const isUnknown = (name: string) =>
    prefixes.some((prefix) => name.startsWith(prefix)) && !known.includes(name) && !SERVICE_LINK.test(name);
  return Object.keys(env)
    .filter(isUnknown)
    .toSorted()
    .map((name) => ({
      variable: name,
      expected: 'a name that this software knows',
      got: 'one that it does not',
      remedy: `The nearest is ${closest(name, known)}; rename it or remove it.`,
    }));
}

const LONGEST_SHOWN = 60;

function shown(written: string): string {
  return JSON.stringify(written.length > LONGEST_SHOWN ? `${written.slice(0, LONGEST_SHOWN - 1)}…` : written);
}
