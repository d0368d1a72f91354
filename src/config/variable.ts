import type { Fault } from './error';
import type { Form } from './forms';
import { fixedSecret, type Secret, secretFromFile, type SecretFileOptions, UnusableFileError } from './secret';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where values come from. */
export interface Source extends SecretFileOptions {
  env: Environment;
}

/** w: the worker, s: the starter. */
export type ReadBy = 'w' | 's' | 'w s';

/** One variable: what the documentation says of it, and how it is read. */
export interface Variable<T> {
  readBy: ReadBy;
  /** For people, Markdown. */
  meaning: string;
  /** As one would write it. */
  default?: string;
  required: boolean;
  /** A secret also takes NAME_FILE. */
  secret: boolean;
  example: string;
  /** @throws VariableFault */
  read(name: string, source: Source): T;
}

/** Thrown by a variable that is wrong. */
export class VariableFault extends Error {
  constructor(readonly fault: Fault) {
    super(fault.variable);
  }
}

export function withDefault<T>(form: Form<T>, written: string, readBy: ReadBy, meaning: string): Variable<T> {
  return {
    ...described(form, readBy, meaning),
    default: written,
    read: (name, { env }) => parse(name, form, textOf(env, name, form) ?? written),
  };
}

export function optional<T>(form: Form<T>, readBy: ReadBy, meaning: string): Variable<T | undefined> {
  return {
    ...described(form, readBy, meaning),
    read: (name, { env }) => {
      const given = textOf(env, name, form);
      return given === undefined ? undefined : parse(name, form, given);
    },
  };
}

export function required<T>(form: Form<T>, readBy: ReadBy, meaning: string): Variable<T> {
  const variable = optional(form, readBy, meaning);
  return {
    ...variable,
    required: true,
    read: (name, source) => variable.read(name, source) ?? missing(name, form, `Set ${name}=${form.example}.`),
  };
}

export function optionalSecret<T>(form: Form<T>, readBy: ReadBy, meaning: string): Variable<Secret<T> | undefined> {
  return { ...described(form, readBy, meaning), secret: true, read: (name, source) => readSecret(name, form, source) };
}

export function requiredSecret<T>(form: Form<T>, readBy: ReadBy, meaning: string): Variable<Secret<T>> {
  return {
    ...optionalSecret(form, readBy, meaning),
    required: true,
    read: (name, source) => readSecret(name, form, source) ?? missing(name, form, `${howToSet(name, form)}.`),
  };
}

/** How a secret is set, in the words of a remedy. */
export function howToSet(name: string, form: Form<unknown>): string {
  return `Set ${name} to ${form.example}, or ${fileVariableOf(name)} to the path of a file that holds it`;
}

/** The variable that names the file of a secret. */
export function fileVariableOf(name: string): string {
  return `${name}_FILE`;
}

/** Whether a variable is there. An empty one counts as not set, for that is how compose files leave one out. */
export function isSet(env: Environment, name: string): boolean {
  return env[name] !== undefined && env[name] !== '';
}

function described(form: Form<unknown>, readBy: ReadBy, meaning: string) {
  return { readBy, meaning, required: false, secret: false, example: form.example };
}

/** Where a form takes the empty text, as a prefix does, an empty variable is a value. */
function textOf(env: Environment, name: string, form: Form<unknown>): string | undefined {
  return isSet(env, name) || form.parse('') !== undefined ? env[name] : undefined;
}

function parse<T>(name: string, form: Form<T>, given: string): T {
  const value = form.parse(given);
  if (value !== undefined) return value;
  throw new VariableFault({
    variable: name,
    expected: form.expected,
    got: form.show(given),
    remedy: `Write it like ${name}=${form.example}.`,
  });
}

function readSecret<T>(name: string, form: Form<T>, source: Source): Secret<T> | undefined {
  const { env } = source;
  const fileVariable = fileVariableOf(name);
  if (isSet(env, name) && isSet(env, fileVariable)) {
    throw new VariableFault({
      variable: name,
      expected: `either ${name} or ${fileVariable}`,
      got: 'both',
      remedy: 'Remove one of them.',
    });
  }
  const path = env[fileVariable];
  if (path) return readSecretFile(fileVariable, path, form, source);
  const given = env[name];
  return given ? fixedSecret(parse(name, form, given)) : undefined;
}

function readSecretFile<T>(fileVariable: string, path: string, form: Form<T>, source: Source): Secret<T> {
  try {
    return secretFromFile(fileVariable, path, form, source);
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error;
    throw new VariableFault({
      variable: fileVariable,
      expected: `the path of a file that holds ${form.expected}`,
      got: error.message,
      remedy: `Put ${form.example} into that file, and let this user read it.`,
    });
  }
}

function missing(name: string, form: Form<unknown>, remedy: string): never {
  throw new VariableFault({ variable: name, expected: form.expected, got: 'nothing', remedy });
}
