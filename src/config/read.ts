import type { z } from 'zod';
import { ConfigError, type ConfigIssue } from './error';
import { type FolderUse, whyNotWritable } from './folders';
import { type FileContent, followSecretFile, readSecretFile, UnusableFileError } from './secret-file';
import { unknownNames } from './unknown-names';
import { type Conflict, describeVariable, type VariableName, variables } from './variables';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadOptions {
  /** Called when the file of a secret can't be used any more. Default: a line on stderr. */
  onProblem?: (problem: string) => void;
  /** A clock in ms, for the files of secrets. */
  now?: () => number;
  /** Variables that name a folder, each with its use: a folder that can't be used so is an issue. */
  folders?: Readonly<Partial<Record<VariableName, FolderUse>>>;
}

/** Where the value of one variable comes from. */
interface Source {
  name: VariableName;
  /** What was written; undefined where the variable is not set. */
  written?: string;
  /** Where NAME_FILE names a file: what it holds. */
  file?: { path: string; content: FileContent };
  /** Why nothing could be read, in the place of the two above. */
  issue?: ConfigIssue;
}

/**
 * Reads the variables of one schema.
 *
 * @param prefixes a variable that begins with one of these and is not known is refused.
 * @throws ConfigError with every issue.
 */
export function readVariables<S extends z.ZodObject>(
  schema: S,
  env: Environment,
  prefixes: readonly string[],
  { onProblem = (problem) => void process.stderr.write(`${problem}\n`), now = Date.now, folders = {} }: ReadOptions,
): z.output<S> {
  const names = Object.keys(schema.shape) as VariableName[];
  const sources = names.map((name) => findSource(name, env));
  const parsed = schema.safeParse(Object.fromEntries(sources.map(({ name, written }) => [name, written])));
  const issues = [
    ...sources.flatMap(({ issue }) => issue ?? []),
    ...sources.flatMap((source) => folderIssue(source, folders[source.name]) ?? []),
    ...(parsed.error?.issues ?? []).flatMap((issue) => configIssue(issue, sources) ?? []),
    ...unknownNames(env, prefixes),
  ];
  if (!parsed.success || issues.length > 0) throw new ConfigError(issues);

  const values: Record<string, unknown> = parsed.data;
  for (const { name, file } of sources) {
    if (file === undefined) continue;
    const parser = schema.shape[name] as z.ZodType<() => unknown>;
    values[name] = followSecretFile({ ...file, variable: `${name}_FILE`, parser, onProblem, now });
  }
  return parsed.data;
}

function findSource(name: VariableName, env: Environment): Source {
  // Compose files leave a variable out by an empty one. Where empty is a value, as for a prefix, it is taken as that.
  const isLeftOut = env[name] === '' && !variables.shape[name].safeParse('').success;
  const written = isLeftOut ? undefined : env[name];
  const path = env[`${name}_FILE`];
  if (!path || !describeVariable(name).secret) return { name, written };
  if (written !== undefined) {
    const remedy = 'Remove one of them.';
    return { name, issue: { variable: name, expected: `either ${name} or ${name}_FILE`, got: 'both', remedy } };
  }
  try {
    const content = readSecretFile(path);
    return { name, written: content.text, file: { path, content } };
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error;
    return { name, issue: fileIssue(name, error.message) };
  }
}

/** What zod found, in our words; undefined where the source of the variable already has an issue. */
function configIssue(issue: z.core.$ZodIssue, sources: readonly Source[]): ConfigIssue | undefined {
  const source = sources.find(({ name }) => name === issue.path[0]);
  if (source === undefined || source.issue) return undefined;
  const { name, written, file } = source;
  const { expected, example, default: fallback, hidden } = describeVariable(name);
  const conflict: Partial<Conflict> = (issue.code === 'custom' && issue.params) || {};
  if (written === undefined) {
    const got = fallback === undefined ? 'nothing' : `${fallback} (the default)`;
    return { variable: name, expected, got, remedy: howToSet(name), ...conflict };
  }
  const got = hidden ? issue.message : shown(written);
  if (file !== undefined) return fileIssue(name, `in the file ${file.path}: ${got}`);
  return { variable: name, expected, got, remedy: `Write it like ${name}=${example}.`, ...conflict };
}

function folderIssue({ name, written }: Source, use: FolderUse | undefined): ConfigIssue | undefined {
  const { data: dir } = variables.shape[name].safeParse(written);
  if (use === undefined || typeof dir !== 'string') return undefined;
  const problem = whyNotWritable(dir, use);
  if (problem === undefined) return undefined;
  const { why, remedy } = problem;
  return {
    variable: name,
    expected: 'a folder that can be written',
    got: `${shown(dir)}, which can't (${why})`,
    remedy,
  };
}

function fileIssue(name: VariableName, got: string): ConfigIssue {
  const { expected, example } = describeVariable(name);
  return {
    variable: `${name}_FILE`,
    expected: `the path of a file that holds ${expected}`,
    got,
    remedy: `Put ${example} into that file, and let this user read it.`,
  };
}

function howToSet(name: VariableName): string {
  const { secret, example } = describeVariable(name);
  if (!secret) return `Set ${name}=${example}.`;
  return `Set ${name} to ${example}, or ${name}_FILE to the path of a file that holds it.`;
}

const LONGEST_SHOWN = 60;

function shown(written: string): string {
  return JSON.stringify(written.length > LONGEST_SHOWN ? `${written.slice(0, LONGEST_SHOWN - 1)}…` : written);
}
