import { isIP } from 'node:net';
import { z } from 'zod';

/*
 * How values are written in the environment, as zod schemas of a string. The metadata `expected` ends the sentence
 * "expected …". A `hidden` value is never shown. The message of its issue ends the sentence "got …" instead.
 */

declare module 'zod' {
  interface GlobalMeta {
    expected?: string;
    example?: string;
    hidden?: true;
    /** Also read from the file that NAME_FILE names. */
    secret?: true;
    /** A command that prints a new value. You paste its output, because nothing runs a command in `.env`. */
    command?: string;
  }
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

type Duration = `${number}${keyof typeof UNIT_MS}` | '0';

/** A duration such as `500ms`, `30s`, `25m`, `24h`, read as milliseconds. Zero needs no unit. */
export function duration(min: Duration, max: Duration) {
  return z
    .string()
    .regex(/^(\d{1,12}(ms|s|m|h)|0)$/)
    .transform((text) => inMs(text as Duration))
    .pipe(z.number().min(inMs(min)).max(inMs(max)))
    .meta({ expected: `a duration from ${min} to ${max}, written with ms, s, m or h`, example: '30s' });
}

function inMs(text: Duration): number {
  if (text === '0') return 0;
  const unit = text.replace(/^\d+/, '') as keyof typeof UNIT_MS;
  return parseInt(text, 10) * UNIT_MS[unit];
}

/** A size such as `32MiB`, read as bytes. */
export function size(minMiB: number, maxMiB: number) {
  return z
    .string()
    .regex(/^\d{1,6}MiB$/)
    .transform((text) => parseInt(text, 10))
    .pipe(z.number().min(minMiB).max(maxMiB))
    .transform((mebibytes) => mebibytes * 1_024 * 1_024)
    .meta({ expected: `a size from ${minMiB}MiB to ${maxMiB}MiB`, example: '64MiB' });
}

export function oneOf<const T extends string>(...choices: [T, ...T[]]) {
  return z.enum(choices).meta({ expected: `one of ${choices.join(', ')}`, example: choices[0] });
}

/** One line of text, such as a name or a path. */
export function line(expected: string, example: string, pattern = /^[^\p{Cc}]{1,1000}$/u) {
  return z.string().regex(pattern).meta({ expected, example });
}

/** List filters put the name in quotes, and no way to escape a quote or a backslash works on every server. */
export const taskQueue = line(
  'the name of a task queue, without quotes or backslashes',
  'fulfilment',
  /^[^\p{Cc}"'\\]{1,1000}$/u,
);

/** A prefix of the partner's paths: `/a/b`, or empty. */
export const pathPrefix = line(
  'a path that begins with / and does not end with /, or an empty value',
  '/v1/partners',
  /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)*$/,
);

export const queryParameter = line('the name of a query parameter', 'query', /^[A-Za-z0-9._~[\]-]{1,100}$/);

/** The server checks the values of the five fields. */
export const cron = line('the five fields of a cron expression', '0 3 * * *', /^[\w*/,?-]+( +[\w*/,?-]+){4}$/);

/** The server rejects a dot or a colon in a deployment's name, and reserves names that begin with two underscores. */
export const deploymentVersion = line(
  'the name of a deployment (without dots), a dot, and the id of a build',
  'fulfilment.1a2b3c4',
  /^(?!__)[\w/-]{1,200}\.(?!__)[\w.+-]{1,100}$/,
).transform((given) => {
  const dot = given.indexOf('.');
  return { deploymentName: given.slice(0, dot), buildId: given.slice(dot + 1) };
});

/** A name of the IANA time zone database. */
export const timeZone = z
  .string()
  .refine((name) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
    } catch {
      return false;
    }
  })
  .meta({ expected: 'the name of a time zone such as Europe/Warsaw', example: 'Europe/Warsaw' });

/** A placement needs at least 0.2 for its search and its write: see src/workflows/policies.ts. */
export const requestsPerSecond = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?$/)
  .transform(Number)
  .pipe(z.number().positive())
  .meta({ expected: 'a number above 0, such as 5 or 0.5', example: '5' });

/** An http or https URL. A rejected URL is never shown, because it may contain a password. */
export function url(example: string) {
  return z
    .string()
    .superRefine((given, context) => {
      const issue = findUrlIssue(given);
      if (issue !== undefined) context.addIssue(`${issue} (not shown)`);
    })
    .meta({ expected: 'an http:// or https:// URL without credentials, query or fragment', example, hidden: true });
}

function findUrlIssue(given: string): string | undefined {
  if (SHELL_COMMAND.test(given)) return UNEXPANDED_COMMAND;
  if (/[\s\p{Cc}]/u.test(given)) return 'a value with spaces';
  if (!URL.canParse(given)) return 'a value that is not a URL';
  const { protocol, username, password } = new URL(given);
  if (!/^https?:\/\//i.test(given)) return protocol.length < 12 ? `a URL that begins with ${protocol}` : 'another URL';
  if (username || password || /^\w+:\/\/[^/]*@/.test(given)) return 'a URL with credentials';
  if (given.includes('?')) return 'a URL with a query';
  return given.includes('#') ? 'a URL with a fragment' : undefined;
}

/** The host and port of a listener. */
export const listenAddress = z
  .string()
  .regex(/^(\[[^\]]+\]|[A-Za-z0-9._-]+):\d{1,5}$/)
  .transform((given) => {
    const colon = given.lastIndexOf(':');
    return { host: given.slice(0, colon), port: Number(given.slice(colon + 1)) };
  })
  .refine(({ host, port }) => port <= 65_535 && (!host.startsWith('[') || isIP(host.slice(1, -1)) === 6))
  .transform(({ host, port }) => ({ host: host.replace(/[[\]]/g, ''), port }))
  .meta({ expected: 'host:port, an IPv6 address in brackets', example: '127.0.0.1:8081' });

/** Like {@link listenAddress}, for a listener that does not resolve names. */
export const listenIpAddress = listenAddress
  .refine(({ host }) => isIP(host) !== 0)
  .meta({ expected: 'an IP address and a port, an IPv6 address in brackets' });

/** A command that a shell would replace with its output. No shell runs `.env`, so the command arrives unchanged. */
const SHELL_COMMAND = /\$\(.*\)|`.+`/s;
const UNEXPANDED_COMMAND = 'a shell command, in $(…) or backticks, instead of its output: nothing runs it here';

const UNPRINTABLE = 'a value with a space, a line break or another character that is not printable ASCII';

/** An API key that an HTTP header can carry. */
export const apiKey = z
  .string()
  .superRefine((key, context) => {
    const issue = SHELL_COMMAND.test(key) ? UNEXPANDED_COMMAND : /^[\x21-\x7e]+$/.test(key) ? undefined : UNPRINTABLE;
    if (issue !== undefined) context.addIssue(`${issue} (not shown)`);
  })
  .transform((key) => () => key)
  .meta({
    expected: 'an API key of printable ASCII characters without spaces',
    example: 'the API key that you were given',
    hidden: true,
    secret: true,
  });

/** One or more secrets, newest first. */
export const fingerprintSecrets = secretList(
  'a secret of 32 bytes or more',
  'openssl rand -hex 32',
  (secret) => Buffer.byteLength(secret) >= 32,
);

/** One or more secrets of Standard Webhooks, newest first. The specification asks for 24 to 64 bytes. */
export const webhookSecrets = secretList(
  'whsec_ and the base64 of 24 to 64 bytes',
  'echo "whsec_$(openssl rand -base64 32)"',
  (secret) => {
    const [, base64 = ''] = /^whsec_(.*)$/.exec(secret) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
  },
);

/** @param command prints a new secret. */
function secretList(each: string, command: string, isValid: (secret: string) => boolean) {
  return z
    .string()
    .superRefine((given, context) => {
      if (SHELL_COMMAND.test(given)) context.addIssue(`${UNEXPANDED_COMMAND} (not shown)`);
    })
    .transform((given): readonly string[] => given.split(/\s+/).filter((secret) => secret !== ''))
    .superRefine((secrets, context) => {
      if (secrets.length > 0 && secrets.every(isValid)) return;
      const wrong = secrets.findIndex((secret) => !isValid(secret)) + 1;
      const several = `${secrets.length} secrets, of which number ${wrong} is invalid (not shown)`;
      context.addIssue(secrets.length > 1 ? several : 'something else (not shown)');
    })
    .transform((secrets) => () => secrets)
    .meta({
      expected: `${each}; several, newest first, separated by spaces`,
      example: 'a secret of your own',
      hidden: true,
      secret: true,
      command,
    });
}
