import { isGrpcServiceError } from '@temporalio/client';

/** Temporal's settings were understood, and Temporal or its certificate does not fit them. Exit code 78. */
export class TemporalRefusedError extends Error {
  readonly exitCode = 78;

  constructor(where: string, cause: string) {
    super(
      `Temporal${where} can't be used: ${cause}. TEMPORAL_API_KEY, TEMPORAL_TLS… and the file that ` +
        'TEMPORAL_CONFIG_FILE names say what is used.',
    );
    this.name = 'TemporalRefusedError';
  }
}

/** Why a connection was not made. `refused`: another try changes nothing. */
export interface ConnectionFailure {
  cause: string;
  refused: boolean;
}

const UNAUTHENTICATED: ConnectionFailure = { cause: 'the server refuses the API key (unauthenticated)', refused: true };
const PERMISSION_DENIED: ConnectionFailure = {
  cause: 'the server refuses the API key or the client certificate (permission denied)',
  refused: true,
};

/**
 * A worker's connection fails with a text of tonic and rustls, a client's with one of grpc-js and OpenSSL, and neither has a
 * code that says more. Source: both tried against servers that do each of these. The first that fits counts.
 */
const FAILURES: [RegExp, ConnectionFailure][] = [
  [/^Failed to call GetSystemInfo: code: '[^']*valid authentication credentials/, UNAUTHENTICATED],
  [/^Failed to call GetSystemInfo: code: '[^']*does not have permission/, PERMISSION_DENIED],
  [/NotValidForName|ALTNAME_INVALID/, refused("the server's certificate is for another host name")],
  [/\(Expired|certificate has expired/, refused("the server's certificate has expired")],
  [/InvalidContentType|wrong version number/, refused('the server does not speak TLS')],
  [/received fatal alert: (?!InternalError)|alert (?!internal)[a-z ]+:/, refused('the server refuses our certificate')],
  [/InvalidCertificate|certificate|UnknownIssuer/, refused("the server's certificate is not trusted")],
  [/KeyParse|PEM|ERR_OSSL/, refused("our certificate or its key can't be read")],
  [/ConnectionRefused|ECONNREFUSED/, unreachable('connection refused')],
  [/dns error|Name resolution failed|ENOTFOUND/, unreachable('host name not found')],
  [/^status 4$|TimedOut|ETIMEDOUT/, unreachable('no answer')],
  [/^status 14$|currently unavailable/, unreachable('the server answers that it is unavailable')],
];

/** Names the cause in words of our own: those of a server could repeat a key. */
export function connectionFailureOf(error: unknown): ConnectionFailure {
  const denied = refusalOf(error);
  if (denied) return denied;
  const text = textOf(error);
  const known = FAILURES.find(([said]) => said.test(text));
  if (!known && text.startsWith('status')) return unreachable(`the server answers with gRPC ${text}`);
  return known?.[1] ?? unreachable('the connection was closed (a server that expects TLS, or no Temporal server?)');
}

/** Whether the server refuses us, at the connection or at any later call. */
export function refusalOf(error: unknown): ConnectionFailure | undefined {
  const { cause } = (error ?? {}) as { cause?: unknown };
  const said = isGrpcServiceError(cause) ? cause : error;
  if (!isGrpcServiceError(said)) return undefined;
  return said.code === 16 ? UNAUTHENTICATED : said.code === 7 ? PERMISSION_DENIED : undefined;
}

/** What a library says, without what the server says: that could hold any word. */
function textOf(error: unknown): string {
  if (isGrpcServiceError(error)) {
    const isOwn = /^(No connection established|Name resolution failed)/.test(error.details);
    return isOwn ? error.details : `status ${error.code}`;
  }
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return `${String(message).replace(/message: "(?:[^"\\]|\\.)*"/, '')} ${typeof code === 'string' ? code : ''}`;
}

function refused(cause: string): ConnectionFailure {
  return { cause, refused: true };
}

function unreachable(cause: string): ConnectionFailure {
  return { cause, refused: false };
}
