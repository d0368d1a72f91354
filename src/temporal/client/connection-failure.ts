import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { grpcErrorOf } from './grpc';
import { nodeTlsOptions, TemporalConfigError, type TemporalTarget } from './target';
import { withinMs } from './within-ms';

/** Why there is no connection, in our own words: those of a server could repeat a key. */
export interface ConnectionFailure {
  cause: string;
  /** Another try changes nothing. */
  refused: boolean;
  /** A sentence that names the variable to look at. */
  remedy?: string;
}

const OUR_CERTIFICATE = 'Look at TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH (or …_DATA).';
const AUTHORITIES =
  'A worker trusts the authorities of this machine: are they installed (on Debian: the package ca-certificates)?';
const NO_TLS = 'the server does not speak TLS';

/**
 * By the code of Node or of OpenSSL (an alert has the version of TLS before it), or the status of an answer. The first row counts. One
 * with a remedy is a refusal.
 */
const FAILURES: readonly (readonly [code: RegExp, cause: string, remedy?: string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'host name not found'],
  [/^ETIMEDOUT$/, 'no answer'],
  [/^ERR_INVALID_URL$/, 'the address is none', 'Write TEMPORAL_ADDRESS like localhost:7233.'],
  [/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/, NO_TLS, 'TEMPORAL_TLS=false turns TLS off.'],
  [/ALERT_CERTIFICATE_EXPIRED$/, 'our certificate has expired', OUR_CERTIFICATE],
  [/ALERT_CERTIFICATE_REQUIRED$/, 'the server wants a certificate of ours, and none is set', OUR_CERTIFICATE],
  [/ALERT_UNKNOWN_CA$/, 'the server refuses our certificate: it does not know who signed it', OUR_CERTIFICATE],
  [
    /ALERT_(\w*CERTIFICATE\w*|HANDSHAKE_FAILURE|ACCESS_DENIED|DECRYPT_ERROR)$/,
    'the server refuses our certificate',
    OUR_CERTIFICATE,
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    "the server's certificate is for another host name",
    'It must be for the host of TEMPORAL_ADDRESS, or for TEMPORAL_TLS_SERVER_NAME if that is set.',
  ],
  [/^CERT_HAS_EXPIRED$/, "the server's certificate has expired", 'It has to be renewed at the server.'],
  [
    /CERT|LEAF_SIGNATURE|INVALID_CA/,
    "the server's certificate is not trusted",
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH (or …_DATA) names who signed it, if that was no public authority.',
  ],
  [
    /^gRPC status 7$/,
    'the server refuses the API key or the client certificate (permission denied)',
    'Look at TEMPORAL_API_KEY or TEMPORAL_TLS_CLIENT_CERT_PATH, and at TEMPORAL_NAMESPACE: may it be used with them?',
  ],
  [/^gRPC status 14$/, 'the server answers that it is unavailable'],
  [
    /^gRPC status 16$/,
    'the server refuses the API key (unauthenticated)',
    'Look at TEMPORAL_API_KEY: it may have expired, or been deleted or disabled.',
  ],
];

/** Names a failure by asking the server once more, by Node alone: the errors of the SDK have a text and no code. */
export async function diagnose(target: TemporalTarget, timeoutMs: number): Promise<ConnectionFailure> {
  const { tls, apiKey } = target.connectionOptions;
  const code = await askOnce(target, timeoutMs);
  const known = failureOf(code);
  if (known?.cause === NO_TLS && apiKey !== undefined) {
    return { ...known, remedy: 'The API key needs TLS: look at TEMPORAL_ADDRESS, or remove TEMPORAL_API_KEY.' };
  }
  if (known) return known;
  if (code === ANSWERED)
    return unreachable("Node reaches the server, and Temporal's SDK does not", tls ? AUTHORITIES : undefined);
  if (code !== CLOSED) return unreachable(`the connection failed (${code})`);
  return tls
    ? unreachable(`${CLOSED} (a server that refuses our certificate, or no Temporal server?)`, OUR_CERTIFICATE)
    : unreachable(`${CLOSED} (a server that expects TLS, or no Temporal server?)`, 'TEMPORAL_TLS=true turns TLS on.');
}

/** Whether the server refuses us, at the connection or at any later call. */
export function refusalOf(error: unknown): ConnectionFailure | undefined {
  const failure = failureOf(`gRPC status ${grpcErrorOf(error)?.code}`);
  return failure?.refused ? failure : undefined;
}

/** @param where such as ` at HOST:PORT`, or empty. */
export function refusedError(where: string, { cause, remedy }: ConnectionFailure): TemporalConfigError {
  const file = 'The file that TEMPORAL_CONFIG_FILE names may set the same as a variable does.';
  return new TemporalConfigError(`Temporal${where} can't be used: ${cause}. ${remedy} ${file}`);
}

function failureOf(code: string): ConnectionFailure | undefined {
  const row = FAILURES.find(([pattern]) => pattern.test(code));
  if (!row) return undefined;
  const [, cause, remedy] = row;
  return { cause, remedy, refused: remedy !== undefined };
}

const ANSWERED = 'gRPC status 0';
const CLOSED = 'the connection was closed';

/** @returns the status that the server answers with, or why it does not answer. */
async function askOnce({ address, connectionOptions, apiKey }: TemporalTarget, timeoutMs: number): Promise<string> {
  const { tls, metadata, apiKey: fixedKey } = connectionOptions;
  const key = apiKey?.() ?? fixedKey;
  let close = () => {};
  try {
    const session = tls ? connect(`https://${address}`, nodeTlsOptions(tls)) : connect(`http://${address}`);
    close = () => session.destroy();
    // A session that TLS has ended does not let go of its socket.
    session.on('connect', (_, socket) => (close = () => socket.destroy()));
    const answer = answerTo(session, { ...metadata, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) });
    return (await withinMs(timeoutMs, answer)) ?? 'ETIMEDOUT';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? CLOSED;
  } finally {
    close();
  }
}

/** The call that the SDK begins a connection with, and an empty message. */
const FIRST_CALL = '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo';
const EMPTY_MESSAGE = Buffer.alloc(5);

function answerTo(session: ClientHttp2Session, metadata: Record<string, string>): Promise<string> {
  const headers = { 'content-type': 'application/grpc', te: 'trailers', ...metadata };
  const request = session.request({ ':method': 'POST', ':path': FIRST_CALL, ...headers });
  return new Promise((resolve, reject) => {
    const take = (answer: IncomingHttpHeaders) =>
      void (answer['grpc-status'] !== undefined && resolve(`gRPC status ${Number(answer['grpc-status'])}`));
    session.on('error', reject).on('close', () => resolve(CLOSED));
    request
      .on('response', take)
      .on('trailers', take)
      // What ends the session cancels the request first, and names its reason only then.
      .on('error', (error: NodeJS.ErrnoException) => void (error.code !== 'ERR_HTTP2_STREAM_CANCEL' && reject(error)))
      .on('close', () => session.close())
      .resume()
      .end(EMPTY_MESSAGE);
  });
}

function unreachable(cause: string, remedy?: string): ConnectionFailure {
  return { cause, refused: false, remedy };
}
