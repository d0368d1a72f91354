import { existsSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { type ClientConfigTLS, loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';

/** Where Temporal is. Source: Temporal's own environment convention, read by `@temporalio/envconfig`. */
export interface TemporalTarget {
  /** Host and port. */
  address: string;
  namespace: string;
  connectionOptions: ReturnType<typeof toClientOptions>['connectionOptions'];
  /** The current key, if it is read from a file; otherwise it is in the options. */
  apiKey?: () => string;
}

/** Temporal can't be used with these settings, or its namespace is not set up for us. Exit code 78. */
export class TemporalConfigError extends Error {
  override readonly name = 'TemporalConfigError';
  readonly exitCode = 78;
}

export function unusableSettings(why: string): TemporalConfigError {
  const settings = "Temporal's settings (TEMPORAL_…, or the file that TEMPORAL_CONFIG_FILE names)";
  return new TemporalConfigError(`${settings} can't be used: ${why}`);
}

type TlsOptions = TemporalTarget['connectionOptions']['tls'];
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS…`, `TEMPORAL_PROFILE` and its file.
 *
 * @param options.temporalApiKey the current key, if it is read from a file: it wins over the others.
 * @param options.allowPlaintext whether a key may be sent without TLS. Default: no.
 * @throws TemporalConfigError if the file or a variable can't be used, or would silently be read as something else.
 */
export function readTemporalTarget(
  env: Environment,
  { temporalApiKey: apiKey, allowPlaintext }: { temporalApiKey?: () => string; allowPlaintext?: boolean } = {},
): TemporalTarget {
  const given = withoutEmpty(env);
  try {
    checkVariables(given);
    const profile = loadClientConfigProfile({ overrideEnvVars: given });
    checkPairIsWhole(profile.tls);
    const { connectionOptions, namespace } = toClientOptions({ ...profile, apiKey: apiKey?.() ?? profile.apiKey });
    checkPairFits(connectionOptions.tls);
    checkHeaders(connectionOptions);
    if (!allowPlaintext && isKeyPlain(connectionOptions)) throw new Error(PLAIN_KEY);
    const { address: written = 'localhost' } = connectionOptions;
    const address = /:\d+$/.test(written) ? written : `${written}:7233`;
    return { address, namespace: namespace ?? 'default', connectionOptions: { ...connectionOptions, address }, apiKey };
  } catch (error) {
    throw unusableSettings(reasonOf(error));
  }
}

/** Compose files leave a variable out by an empty one; an empty API key would turn TLS on. Empty metadata means none. */
function withoutEmpty(env: Environment): Record<string, string> {
  const isLeftOut = (name: string) => name.startsWith('TEMPORAL_') && !name.startsWith('TEMPORAL_GRPC_META_');
  const given = Object.entries(env).filter(
    ([name, value]) => value !== undefined && !(value === '' && isLeftOut(name)),
  );
  return Object.fromEntries(given) as Record<string, string>;
}

/** envconfig silently reads these as something else: `TEMPORAL_TLS=yes` would send everything in plain text. */
function checkVariables(env: Readonly<Record<string, string>>): void {
  const NO_VERIFICATION = 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION';
  const file = env.TEMPORAL_CONFIG_FILE;
  const issues = ['TEMPORAL_TLS', NO_VERIFICATION]
    .filter((name) => !/^(true|false|1|0)?$/.test(env[name] ?? ''))
    .map((name) => `${name} is none of true, false, 1 and 0`);
  if (file !== undefined && !existsSync(file)) issues.push(`TEMPORAL_CONFIG_FILE names ${file}, which is not there`);
  if (/^(true|1)$/.test(env[NO_VERIFICATION] ?? ''))
    issues.push(
      `${NO_VERIFICATION} is not supported by Temporal's SDK for TypeScript; TEMPORAL_TLS_SERVER_CA_CERT_PATH and ` +
        'TEMPORAL_TLS_SERVER_NAME make the certificate of a server of your own verifiable',
    );
  if (issues.length > 0) throw new Error(issues.join('; '));
}

/** One without the other would silently be left out. */
function checkPairIsWhole(tls: ClientConfigTLS | undefined): void {
  if (!tls || tls.disabled || !tls.clientCert === !tls.clientKey) return;
  const [given, missing] = tls.clientCert ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
  const pathOf = (part: string | undefined) => `TEMPORAL_TLS_CLIENT_${part}_PATH (or …_DATA)`;
  throw new Error(`${pathOf(given)} is set, and ${pathOf(missing)} is not`);
}

/** With a key of another certificate, the server would close the connection and not say why. */
function checkPairFits(tls: TlsOptions): void {
  try {
    createSecureContext(nodeTlsOptions(tls));
  } catch {
    const names = 'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH (or …_DATA)';
    throw new Error(`${names} are not a certificate and its private key, both PEM and without a passphrase`);
  }
}

const PLAIN_KEY =
  'the API key would be sent without TLS. Set TEMPORAL_TLS=true, or set ALLOW_PLAINTEXT=true if all who share the network ' +
  'between may read the key';

/** Whether a key is sent without TLS. */
export function isKeyPlain({ tls, apiKey, metadata }: TemporalTarget['connectionOptions']): boolean {
  return !tls && (apiKey ?? metadata?.authorization) !== undefined;
}

/** No request could be made with them, which would look like a connection that fails. */
function checkHeaders({ apiKey = '', metadata }: TemporalTarget['connectionOptions']): void {
  const headers = Object.entries({ ...metadata, 'the API key': apiKey });
  const [name] = headers.find(([, value]) => /[^\x20-\x7e]/.test(value)) ?? [];
  if (name !== undefined)
    throw new Error(`${name} holds a line break or another character that is not printable ASCII`);
}

/** The TLS settings of a connection, as Node takes them. */
export function nodeTlsOptions(tls: TlsOptions) {
  const { serverNameOverride: servername, serverRootCACertificate, clientCertPair } = (tls !== true && tls) || {};
  const bufferOf = (pem: Uint8Array | undefined) => pem && Buffer.from(pem);
  const [ca, cert, key] = [serverRootCACertificate, clientCertPair?.crt, clientCertPair?.key].map(bufferOf);
  return { servername, ca, cert, key };
}

function reasonOf(error: unknown): string {
  // It looks for the profile in a file that has none.
  if (error instanceof TypeError) return 'the file holds no profile, such as [profile.default]';
  // Below its first line the message of the TOML parser quotes the file, and with it a key.
  const { message = 'unreadable' } = (error ?? {}) as { message?: string };
  return message.split('\n', 1)[0] ?? '';
}
