import { isIP } from 'node:net';

/** How a value is written. */
export interface Form<T> {
  /** Ends the sentence "expected …". */
  expected: string;
  example: string;
  /** Undefined when the text has another form. */
  parse(text: string): T | undefined;
  /** What may be shown of a text that was refused. */
  show(text: string): string;
}

export interface HostAndPort {
  host: string;
  port: number;
}

const LONGEST_SHOWN = 60;

export function shown(text: string): string {
  return JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1)}…` : text);
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** A duration such as `500ms`, `30s`, `25m`, `24h`; its value is in ms. `min` and `max` are written the same way. */
export function duration({ min, max }: { min: string; max: string }): Form<number> {
  const [least = 0, most = 0] = [min, max].map(inMs);
  return {
    expected: `a duration such as 500ms, 30s, 25m or 24h, from ${min} to ${max}`,
    example: '30s',
    parse: (text) => within(inMs(text), least, most),
    show: shown,
  };
}

function inMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,12})(ms|s|m|h)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

function within(value: number | undefined, least: number, most: number): number | undefined {
  return value !== undefined && value >= least && value <= most ? value : undefined;
}

export function oneOf<const T extends string>(...choices: T[]): Form<T> {
  return {
    expected: `one of ${choices.join(', ')}`,
    example: choices[0] ?? '',
    parse: (text) => choices.find((choice) => choice === text),
    show: shown,
  };
}

/** A text of one line that means something to others: a name, a path of the file system. */
export function text(what: string, example: string, pattern = /^[^\p{Cc}]{1,1000}$/u): Form<string> {
  return { expected: what, example, parse: (given) => (pattern.test(given) ? given : undefined), show: shown };
}

/** Before the paths of the partner: `/a/b`, or empty. */
export const prefix: Form<string> = {
  expected: 'a path that begins with / and does not end with it, or nothing',
  example: '/v1/partners',
  parse: (given) => (/^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)*$/.test(given) ? given : undefined),
  show: shown,
};

export const rate: Form<number> = {
  expected: 'a number above 0 such as 5 or 0.5',
  example: '5',
  parse: (given) => (/^\d{1,9}(\.\d{1,9})?$/.test(given) && Number(given) > 0 ? Number(given) : undefined),
  show: shown,
};

/** An http or https URL. One that is refused is never shown: a password may be what is wrong with it. */
export function url(example: string): Form<string> {
  return {
    expected: 'an http:// or https:// URL without credentials, query or fragment',
    example,
    parse: (given) => (whatIsWrongWithUrl(given) === undefined ? given : undefined),
    show: (given) => `${whatIsWrongWithUrl(given) ?? 'a URL'} (not shown)`,
  };
}

function whatIsWrongWithUrl(given: string): string | undefined {
  if (/[\s\p{Cc}]/u.test(given)) return 'a text with blanks in it';
  if (!URL.canParse(given)) return 'a text that is no URL';
  const { protocol, username, password } = new URL(given);
  if (!/^https?:\/\//i.test(given)) return protocol.length < 12 ? `a URL that begins with ${protocol}` : 'no such URL';
  if (username || password || /^\w+:\/\/[^/]*@/.test(given)) return 'a URL with credentials';
  if (given.includes('?')) return 'a URL with a query';
  return given.includes('#') ? 'a URL with a fragment' : undefined;
}

/** Where to listen: host and port. */
export const listenAddress: Form<HostAndPort> = {
  expected: 'host:port, an IPv6 address in brackets',
  example: '127.0.0.1:8081',
  parse: parseAddress,
  show: shown,
};

/** Like {@link listenAddress}, for listeners that resolve no names. */
export const listenIpAddress: Form<HostAndPort> = {
  ...listenAddress,
  expected: 'an IP address and a port, an IPv6 address in brackets',
  parse: (given) => {
    const address = parseAddress(given);
    return address && isIP(address.host) ? address : undefined;
  },
};

/** Five fields of a cron expression; which values they may have the server says. */
export const cron: Form<string> = {
  expected: 'the five fields of a cron expression',
  example: '0 3 * * *',
  parse: (given) => (/^[\w*/,?-]+( +[\w*/,?-]+){4}$/.test(given) ? given : undefined),
  show: shown,
};

/** A name of the IANA time zone database. */
export const timeZone: Form<string> = {
  expected: 'the name of a time zone such as Europe/Warsaw',
  example: 'Europe/Warsaw',
  parse: (given) => (isTimeZone(given) ? given : undefined),
  show: shown,
};

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function parseAddress(given: string): HostAndPort | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(given) ?? [];
  const port = Number(digits);
  const host = bracketed ?? plain;
  if (host === undefined || port > 65_535) return undefined;
  return bracketed === undefined || isIP(bracketed) === 6 ? { host, port } : undefined;
}

const HIDDEN = 'the value is not shown';

/** An API key that an HTTP header can carry. */
export const apiKey: Form<string> = {
  expected: 'a key of printable ASCII characters without blanks',
  example: 'the key that the partner gave you',
  parse: (given) => (/^[\x21-\x7e]+$/.test(given) ? given : undefined),
  show: () => `a text with a blank, a control character or a letter beyond ASCII (${HIDDEN})`,
};

/** One or several secrets, newest first. */
export const fingerprintSecrets = secretsOf({
  each: 'a secret of 32 bytes or more',
  example: '$(openssl rand -hex 32)',
  fits: (secret) => Buffer.byteLength(secret) >= 32,
});

/** One or several secrets of Standard Webhooks, newest first. Its specification says 24 to 64 bytes. */
export const webhookSecrets = secretsOf({
  each: 'whsec_ and the base64 of 24 to 64 bytes',
  example: 'whsec_$(openssl rand -base64 32)',
  fits: (secret) => {
    const base64 = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : '';
    const bytes = Buffer.from(base64, 'base64');
    return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
  },
});

function secretsOf(one: { each: string; example: string; fits: (secret: string) => boolean }): Form<readonly string[]> {
  const split = (given: string) => given.split(/\s+/).filter((secret) => secret !== '');
  return {
    expected: `${one.each}; several, newest first, separated by blanks`,
    example: one.example,
    parse: (given) => {
      const secrets = split(given);
      return secrets.length > 0 && secrets.every(one.fits) ? Object.freeze(secrets) : undefined;
    },
    show: (given) => {
      const secrets = split(given);
      const wrong = secrets.findIndex((secret) => !one.fits(secret)) + 1;
      return secrets.length > 1
        ? `${secrets.length}, of which number ${wrong} is none (${HIDDEN})`
        : `something else (${HIDDEN})`;
    },
  };
}
