import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { grpcErrorOf } from './grpc';
import { nodeTlsOptions, TemporalConfigError, type TemporalTarget } from './target';
import { withTimeout } from './with-timeout';

/** Why a connection failed. The text never comes from the server, whose text might contain the API key. */
export interface ConnectionFailure {
  cause: string;
  /** The server refuses us, so a retry is useless. */
  refused: boolean;
  /** A sentence that names the variable to check. */
  remedy?: string;
}

const CLIENT_CERTIFICATE = 'Check TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH (or …_DATA).';
const AUTHORITIES =
  "A worker trusts this machine's certificate authorities. Are they installed (on Debian: the package ca-certificates)?";
const PROXY =
  "If http_proxy, https_proxy or grpc_proxy is set, Temporal's SDK connects through that proxy, unless no_proxy names the host.";
const NO_TLS = 'the server does not speak TLS';

/**
 * Patterns for error codes from Node and OpenSSL (alerts are prefixed with the TLS version) and for gRPC statuses. The
 * first match counts. A row with a remedy is a refusal.
 */
const FAILURES: readonly (readonly [code: RegExp, cause: string, remedy?: string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'host name not found'],
  [/^ETIMEDOUT$/, 'no response'],
  [/^ERR_INVALID_URL$/, 'the address is invalid', 'Write TEMPORAL_ADDRESS like localhost:7233.'],
  [/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/, NO_TLS, 'TEMPORAL_TLS=false turns TLS off.'],
  [/ALERT_CERTIFICATE_EXPIRED$/, 'the client certificate has expired', CLIENT_CERTIFICATE],
  [/ALERT_CERTIFICATE_REQUIRED$/, 'the server requires a client certificate, and none is set', CLIENT_CERTIFICATE],
  [/ALERT_UNKNOWN_CA$/, 'the server refuses the client certificate: it does not trust the issuer', CLIENT_CERTIFICATE],
  [
    /ALERT_(\w*CERTIFICATE\w*|HANDSHAKE_FAILURE|ACCESS_DENIED|DECRYPT_ERROR)$/,
    'the server refuses the client certificate',
    CLIENT_CERTIFICATE,
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "the server's certificate is for another host name",
    'It must be for the host of TEMPORAL_ADDRESS, or for TEMPORAL_TLS_SERVER_NAME if that is set.',
  ],
  [/^CERT_HAS_EXPIRED$/, "the server's certificate has expired", 'It must be renewed on the server.'],
  [
    /CERT|LEAF_SIGNATURE|INVALID_CA/,
    "the server's certificate is not trusted",
    'If a private authority issued it, set TEMPORAL_TLS_SERVER_CA_CERT_PATH (or …_DATA) to its certificate.',
  ],
  [
    /^gRPC status 7$/,
    'the server refuses the API key or the client certificate (permission denied)',
    'Check TEMPORAL_API_KEY or TEMPORAL_TLS_CLIENT_CERT_PATH, and whether they give access to TEMPORAL_NAMESPACE.',
  ],
  [/^gRPC status 14$/, 'the server reports that it is unavailable'],
  [
    /^gRPC status 16$/,
    'the server refuses the API key (unauthenticated)',
    'Check TEMPORAL_API_KEY: the key may have expired, or been deleted or disabled.',
  ],
];

/** Finds the cause by connecting once more with plain Node, because the SDK's errors have no codes. */
export async function findConnectionFailure(target: TemporalTarget, timeoutMs: number): Promise<ConnectionFailure> {
  const { tls, apiKey } = target.connectionOptions;
  const code = await askOnce(target, timeoutMs);
  const known = knownFailure(code);
  if (known?.cause === NO_TLS && apiKey !== undefined) {
    return { ...known, remedy: 'An API key needs TLS: check TEMPORAL_ADDRESS, or remove TEMPORAL_API_KEY.' };
  }
  if (known) return known;
  if (code === ERROR_RESPONSE)
    return unreachableFor(
      "Node can reach the server, but Temporal's SDK can't",
      tls ? `${AUTHORITIES} ${PROXY}` : PROXY,
    );
  if (code !== CLOSED) return unreachableFor(`the connection failed (${code})`);
  return tls
    ? unreachableFor(
        `${CLOSED} (the server refuses the client certificate, or it is not a Temporal server)`,
        CLIENT_CERTIFICATE,
      )
    : unreachableFor(
        `${CLOSED} (the server expects TLS, or it is not a Temporal server)`,
        'TEMPORAL_TLS=true turns TLS on.',
      );
}

/** The refusal, if the server refuses our API key or certificate, on connecting or in a later call. */
export function refusalOf(error: unknown): ConnectionFailure | undefined {
  const failure = knownFailure(`gRPC status ${grpcErrorOf(error)?.code}`);
  return failure?.refused ? failure : undefined;
}

/** @param where such as ` at HOST:PORT`, or empty */
export function refusedError(where: string, { cause, remedy }: ConnectionFailure): TemporalConfigError {
  const file = 'The file named by TEMPORAL_CONFIG_FILE may set the same values.';
  return new TemporalConfigError(`Temporal${where} can't be used: ${cause}. ${remedy} ${file}`);
}

/** What is known about an error code or a gRPC status. */
export function knownFailure(code: string): ConnectionFailure | undefined {
  const row = FAILURES.find(([pattern]) => pattern.test(code));
  if (!row) return undefined;
  const [, cause, remedy] = row;
  return { cause, remedy, refused: remedy !== undefined };
}

const ERROR_RESPONSE = 'gRPC status 0';
const CLOSED = 'the connection was closed';

/** @returns the gRPC status of the server's response, or the error code. */
async function askOnce({ address, connectionOptions, apiKey }: TemporalTarget, timeoutMs: number): Promise<string> {
  const { tls, metadata, apiKey: fixedKey } = connectionOptions;
  const key = apiKey?.() ?? fixedKey;
  let close = () => {};
  try {
    const session = tls ? connect(`https://${address}`, nodeTlsOptions(tls)) : connect(`http://${address}`);
    close = () => session.destroy();
    // A session that was ended by TLS does not release its socket.
    session.on('connect', (_, socket) => (close = () => socket.destroy()));
    const response = responseTo(session, {
      ...metadata,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    });
    return (await withTimeout(timeoutMs, response)) ?? 'ETIMEDOUT';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? CLOSED;
  } finally {
    close();
  }
}

/** The SDK's first call on a connection. */
const FIRST_CALL = '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo';
const EMPTY_MESSAGE = Buffer.alloc(5);

function responseTo(session: ClientHttp2Session, metadata: Record<string, string>): Promise<string> {
  const headers = { 'content-type': 'application/grpc', te: 'trailers', ...metadata };
  const request = session.request({ ':method': 'POST', ':path': FIRST_CALL, ...headers });
  return new Promise((resolve, reject) => {
    const take = (received: IncomingHttpHeaders) =>
      void (received['grpc-status'] !== undefined && resolve(`gRPC status ${Number(received['grpc-status'])}`));
    session.on('error', reject).on('close', () => resolve(CLOSED));
    request
      .on('response', take)
      .on('trailers', take)
      // When a session ends, its request is cancelled first. The session's own error contains the cause.
      .on('error', (error: NodeJS.ErrnoException) => void (error.code !== 'ERR_HTTP2_STREAM_CANCEL' && reject(error)))
      .on('close', () => session.close())
      .resume()
      .end(EMPTY_MESSAGE);
  });
}

function unreachableFor(cause: string, remedy?: string): ConnectionFailure {
  return { cause, refused: false, remedy };
}
