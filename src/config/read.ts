import type { z } from 'zod';
import { ConfigError, type ConfigIssue } from './error';
import { type FileContent, followSecretFile, readSecretFile, UnusableFileError } from './secret-file';
import { unknownNames } from './unknown-names';
import { type Conflict, describeVariable, type VariableName } from './variables';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadOptions {
  /** Called when the file of a secret can't be used any more. Default: a line on stderr. */
  onProblem?: (problem: string) => void;
  /** A clock in ms, for the files of secrets. */
  now?: () => number;
}

/** Where the value of one variable comes from. */
interface Source {
  /** What was written; undefined where the variable is not set. */
  written?: string;
  /** The path in NAME_FILE, and what the file holds. */
  path?: string;
  content?: FileContent;
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
  { onProblem = warn, now = Date.now }: ReadOptions,
): z.output<S> {
  const names = Object.keys(schema.shape) as VariableName[];
  const sources = new Map(names.map((name) => [name, sourceOf(name, schema, env)]));
  const input = Object.fromEntries([...sources].map(([name, { written }]) => [name, written]));
  const parsed = schema.safeParse(input);
  const issues = [...[...sources.values()].flatMap(({ issue = [] }) => issue)];
  for (const issue of parsed.error?.issues ?? []) {
    const name = issue.path[0] as VariableName;
    const source = sources.get(name);
    if (source && !source.issue) issues.push(configIssue(name, source, issue));
  }
  issues.push(...unknownNames(env, prefixes));
  if (!parsed.success || issues.length > 0) throw new ConfigError(issues);

  const values: Record<string, unknown> = parsed.data;
  for (const [name, { path, content }] of sources) {
    if (path === undefined || content === undefined) continue;
    const parser = schema.shape[name] as z.ZodType<() => unknown>;
    values[name] = followSecretFile({ variable: `${name}_FILE`, path, content, parser, onProblem, now });
  }
  return parsed.data;
}

function sourceOf(name: VariableName, schema: z.ZodObject, env: Environment): Source {
  const parser = schema.shape[name] as z.ZodType;
  // Compose files leave a variable out by an empty one. Where empty is a value, as for a prefix, it is taken as that.
  const written = env[name] === '' && !parser.safeParse('').success ? undefined : env[name];
  const { secret, expected, example } = describeVariable(name);
  const path = env[`${name}_FILE`];
  if (!secret || !path) return { written };
  if (written !== undefined) {
    const remedy = 'Remove one of them.';
    return { issue: { variable: name, expected: `either ${name} or ${name}_FILE`, got: 'both', remedy } };
  }
  try {
    const content = readSecretFile(path);
    return { written: content.text, path, content };
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error;
    return { issue: fileIssue(name, { expected, example, got: error.message }) };
  }
}

function configIssue(name: VariableName, { written, path }: Source, issue: z.core.$ZodIssue): ConfigIssue {
  const description = describeVariable(name);
  const conflict: Partial<Conflict> = (issue.code === 'custom' && issue.params) || {};
  const { expected = description.expected } = conflict;
  const { example } = description;
  if (written === undefined) {
    const got = description.default === undefined ? 'nothing' : `${description.default} (the default)`;
    return { variable: name, expected, got, remedy: howToSet(name), ...conflict };
  }
  const got = description.hidden ? issue.message : shown(written);
  if (path !== undefined) return fileIssue(name, { expected, example, got: `in the file ${path}: ${got}` });
  return { variable: name, expected, got, remedy: `Write it like ${name}=${example}.`, ...conflict };
}

function fileIssue(
  name: VariableName,
  { expected, example, got }: { expected: string; example: string; got: string },
): ConfigIssue {
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

function warn(problem: string): void {
  process.stderr.write(`${problem}\n`);
}
