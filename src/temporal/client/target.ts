import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type ClientConfigProfile, loadClientConfigProfile, toClientOptions } from '@temporalio/envconfig';

/** Where Temporal is. Source: Temporal's own environment convention, read by `@temporalio/envconfig`. */
export interface TemporalTarget {
  address: string;
  namespace: string;
  connectionOptions: ReturnType<typeof toClientOptions>['connectionOptions'];
  /** The key of now, where it follows a file; else it is in the options. */
  apiKey?: () => string;
}

/** Temporal's own settings can't be used. Exit code 78. */
export class TemporalConfigError extends Error {
  readonly exitCode = 78;

  constructor(why: string) {
    super(`Temporal's settings (TEMPORAL_…, or the file that TEMPORAL_CONFIG_FILE names) can't be used: ${why}`);
    this.name = 'TemporalConfigError';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads where Temporal is from `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, `TEMPORAL_TLS…`,
 * `TEMPORAL_PROFILE` and its file.
 *
 * @param apiKey the key as of each call, where it follows a file. It counts before all others.
 * @throws TemporalConfigError when the file or a variable can't be used, or would be read as something else than it says.
 */
export function readTemporalTarget(env: Environment, apiKey?: () => string): TemporalTarget {
  const given = withoutEmpty(env);
  const issues = variableIssues(given);
  if (issues.length > 0) throw new TemporalConfigError(issues.join('; '));
  try {
    const profile = loadClientConfigProfile({ overrideEnvVars: given });
    requireWholePair(profile);
    const { connectionOptions, namespace } = toClientOptions({ ...profile, apiKey: apiKey?.() ?? profile.apiKey });
    requireFit(connectionOptions.tls);
    const address = connectionOptions.address ?? 'localhost:7233';
    return { address, namespace: namespace ?? 'default', connectionOptions: { ...connectionOptions, address }, apiKey };
  } catch (error) {
    throw error instanceof TemporalConfigError ? error : new TemporalConfigError(reasonOf(error));
  }
}

/** An empty variable is how compose files leave one out; an empty API key would turn TLS on. Empty metadata means: none. */
function withoutEmpty(env: Environment): Record<string, string> {
  const isLeftOut = (name: string) => name.startsWith('TEMPORAL_') && !name.startsWith('TEMPORAL_GRPC_META_');
  const given = Object.entries(env).filter(
    ([name, value]) => value !== undefined && !(value === '' && isLeftOut(name)),
  );
  return Object.fromEntries(given) as Record<string, string>;
}

const NO_VERIFICATION = 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION';

/** What envconfig reads in silence as something else: `TEMPORAL_TLS=yes` would send everything in plain text. */
function variableIssues(env: Readonly<Record<string, string>>): string[] {
  const file = env.TEMPORAL_CONFIG_FILE;
  const switches = ['TEMPORAL_TLS', NO_VERIFICATION].filter((name) => !/^(true|false|1|0)?$/.test(env[name] ?? ''));
  return [
    ...(file !== undefined && !existsSync(file) ? [`TEMPORAL_CONFIG_FILE names ${file}, which is not there`] : []),
    ...switches.map((name) => `${name} is none of true, false, 1 and 0`),
    ...(/^(true|1)$/.test(env[NO_VERIFICATION] ?? '')
      ? [
          `${NO_VERIFICATION} is not supported by Temporal's SDK for TypeScript; TEMPORAL_TLS_SERVER_CA_CERT_PATH and ` +
            'TEMPORAL_TLS_SERVER_NAME make the certificate of a server of your own verifiable',
        ]
      : []),
  ];
}

/** One without the other would be left out in silence. */
function requireWholePair({ tls }: ClientConfigProfile): void {
  if (!tls || tls.disabled || !tls.clientCert === !tls.clientKey) return;
  const [given, missing] = tls.clientCert ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
  throw new TemporalConfigError(
    `TEMPORAL_TLS_CLIENT_${given}_PATH (or …_DATA) is set, and TEMPORAL_TLS_CLIENT_${missing}_PATH (or …_DATA) is not`,
  );
}

/** With a key that is not the certificate's the server closes the connection, and does not say why. */
function requireFit(tls: TemporalTarget['connectionOptions']['tls']): void {
  const pair = typeof tls === 'object' ? tls?.clientCertPair : undefined;
  if (!pair || fits(pair)) return;
  const names = 'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH (or …_DATA)';
  throw new TemporalConfigError(
    `${names} are not a certificate and its private key, both PEM and without a passphrase`,
  );
}

function fits({ crt, key }: { crt: Uint8Array; key: Uint8Array }): boolean {
  try {
    return new X509Certificate(crt).checkPrivateKey(createPrivateKey(Buffer.from(key)));
  } catch {
    return false;
  }
}

function reasonOf(error: unknown): string {
  // It looks for the profile in a file that has none.
  if (error instanceof TypeError) return 'the file holds no profile, such as [profile.default]';
  // Below its first line the message of the TOML parser quotes the file, and with it a key.
  const { message = 'unreadable' } = (error ?? {}) as { message?: string };
  return message.split('\n', 1)[0] ?? '';
}
