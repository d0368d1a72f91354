import { existsSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { type ClientConfigTLS, loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';

/** How to reach Temporal. Source: Temporal's own environment convention, read by `@temporalio/envconfig`. */
export interface TemporalTarget {
  /** Host and port. */
  address: string;
  namespace: string;
  connectionOptions: ReturnType<typeof toClientOptions>['connectionOptions'];
  /** Returns the current API key if it is read from a file. Any other key is in the options. */
  apiKey?: () => string;
}

/** Temporal can't be used with these settings, or its namespace is not set up. Exit code 78. */
export class TemporalConfigError extends Error {
  override readonly name = 'TemporalConfigError';
  readonly exitCode = 78;
}

export function unusableSettings(reason: string): TemporalConfigError {
  const settings = "Temporal's settings (TEMPORAL_…, or the file named by TEMPORAL_CONFIG_FILE)";
  return new TemporalConfigError(`${settings} can't be used: ${reason}`);
}

type TlsOptions = TemporalTarget['connectionOptions']['tls'];
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS…`, `TEMPORAL_PROFILE` and its file.
 *
 * @param options.temporalApiKey returns the current API key if it is read from a file. It takes precedence.
 * @param options.allowPlaintext whether an API key may be sent without TLS. Default: no.
 * @throws TemporalConfigError if the file or a variable is invalid or would be misread silently.
 */
export function readTemporalTarget(
  env: Environment,
  { temporalApiKey: apiKey, allowPlaintext }: { temporalApiKey?: () => string; allowPlaintext?: boolean } = {},
): TemporalTarget {
  const given = withoutEmpty(env);
  try {
    checkVariables(given);
    const profile = loadClientConfigProfile({ overrideEnvVars: given });
    checkPairIsComplete(profile.tls);
    const { connectionOptions, namespace } = toClientOptions({ ...profile, apiKey: apiKey?.() ?? profile.apiKey });
    checkPairFits(connectionOptions.tls);
    checkHeaders(connectionOptions);
    if (!allowPlaintext && isKeyUnencrypted(connectionOptions)) throw new Error(UNENCRYPTED_KEY);
    const { address: written = 'localhost' } = connectionOptions;
    const address = /:\d+$/.test(written) ? written : `${written}:7233`;
    return { address, namespace: namespace ?? 'default', connectionOptions: { ...connectionOptions, address }, apiKey };
  } catch (error) {
    throw unusableSettings(reasonOf(error));
  }
}

/** Drops empty variables, which a compose file sets for unset ones. An empty API key would turn TLS on. */
function withoutEmpty(env: Environment): Record<string, string> {
  const isLeftOut = (name: string) => name.startsWith('TEMPORAL_') && !name.startsWith('TEMPORAL_GRPC_META_');
  const given = Object.entries(env).filter(
    ([name, value]) => value !== undefined && !(value === '' && isLeftOut(name)),
  );
  return Object.fromEntries(given) as Record<string, string>;
}

/** Rejects values that envconfig silently misreads: `TEMPORAL_TLS=yes` would send everything in plain text. */
function checkVariables(env: Readonly<Record<string, string>>): void {
  const NO_VERIFICATION = 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION';
  const file = env.TEMPORAL_CONFIG_FILE;
  const issues = ['TEMPORAL_TLS', NO_VERIFICATION]
    .filter((name) => !/^(true|false|1|0)?$/.test(env[name] ?? ''))
    .map((name) => `${name} must be true, false, 1 or 0`);
  if (file !== undefined && !existsSync(file)) issues.push(`TEMPORAL_CONFIG_FILE names ${file}, which does not exist`);
  if (/^(true|1)$/.test(env[NO_VERIFICATION] ?? ''))
    issues.push(
      `${NO_VERIFICATION} is not supported by Temporal's TypeScript SDK; for a self-hosted server, set ` +
        'TEMPORAL_TLS_SERVER_CA_CERT_PATH and TEMPORAL_TLS_SERVER_NAME',
    );
  if (issues.length > 0) throw new Error(issues.join('; '));
}

/** envconfig silently ignores a certificate without a key, or a key without a certificate. */
function checkPairIsComplete(tls: ClientConfigTLS | undefined): void {
  if (!tls || tls.disabled || !tls.clientCert === !tls.clientKey) return;
  const [given, missing] = tls.clientCert ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
  const pathOf = (part: string | undefined) => `TEMPORAL_TLS_CLIENT_${part}_PATH (or …_DATA)`;
  throw new Error(`${pathOf(given)} is set, but ${pathOf(missing)} is not`);
}

/** If the private key is for another certificate, the server would close the connection without giving a reason. */
function checkPairFits(tls: TlsOptions): void {
  try {
    createSecureContext(nodeTlsOptions(tls));
  } catch {
    const names = 'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH (or …_DATA)';
    throw new Error(`${names} are not a certificate and its private key, both PEM and without a passphrase`);
  }
}

const UNENCRYPTED_KEY =
  'the API key would be sent without TLS. Set TEMPORAL_TLS=true, or ALLOW_PLAINTEXT=true if everyone on the network may ' +
  'read the API key';

/** Whether an API key would be sent without TLS. */
export function isKeyUnencrypted({ tls, apiKey, metadata }: TemporalTarget['connectionOptions']): boolean {
  return !tls && (apiKey ?? metadata?.authorization) !== undefined;
}

/** An invalid header would make every request fail, which would look like a connection failure. */
function checkHeaders({ apiKey = '', metadata }: TemporalTarget['connectionOptions']): void {
  const headers = Object.entries({ ...metadata, 'the API key': apiKey });
  const [name] = headers.find(([, value]) => /[^\x20-\x7e]/.test(value)) ?? [];
  if (name !== undefined)
    throw new Error(`${name} contains a line break or another character that is not printable ASCII`);
}

/** The TLS settings of a connection, in Node's format. */
export function nodeTlsOptions(tls: TlsOptions) {
  const { serverNameOverride: servername, serverRootCACertificate, clientCertPair } = (tls !== true && tls) || {};
  const bufferOf = (pem: Uint8Array | undefined) => pem && Buffer.from(pem);
  const [ca, cert, key] = [serverRootCACertificate, clientCertPair?.crt, clientCertPair?.key].map(bufferOf);
  return { servername, ca, cert, key };
}

function reasonOf(error: unknown): string {
  // envconfig throws a TypeError if the file has no profile.
  if (error instanceof TypeError) return 'the file has no profile, such as [profile.default]';
  // After the first line, the TOML parser's message quotes the file, which may contain the API key.
  const { message = 'unreadable' } = (error ?? {}) as { message?: string };
  return message.split('\n', 1)[0] ?? '';
}
