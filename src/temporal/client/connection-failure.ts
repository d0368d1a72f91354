import { isGrpcServiceError } from '@temporalio/client';
import { GRPC_STATUS, grpcErrorOf } from './grpc-error';

/** Temporal's settings were understood, and Temporal or its certificate does not fit them. Exit code 78. */
export class TemporalRefusedError extends Error {
  readonly exitCode = 78;

  constructor(where: string, { cause, remedy }: ConnectionFailure) {
    super(
      `Temporal${where} can't be used: ${cause}. ${remedy}The file that TEMPORAL_CONFIG_FILE names may set the same ` +
        'as a variable does.',
    );
    this.name = 'TemporalRefusedError';
  }
}

/** Why a connection was not made. */
export interface ConnectionFailure {
  cause: string;
  /** Another try changes nothing. */
  refused: boolean;
  /** Empty, or a sentence with a space at its end: which variable to look at. */
  remedy: string;
}

const OUR_CERTIFICATE = 'Look at TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH (or …_DATA)';
const UNAUTHENTICATED = refused(
  'the server refuses the API key (unauthenticated)',
  'Look at TEMPORAL_API_KEY: it may have expired, or been deleted or disabled',
);
const PERMISSION_DENIED = refused(
  'the server refuses the API key or the client certificate (permission denied)',
  'Look at TEMPORAL_API_KEY or TEMPORAL_TLS_CLIENT_CERT_PATH, and at TEMPORAL_NAMESPACE: may it be used with them?',
);

/**
 * A worker's connection fails with a text of tonic and rustls, a client's with one of grpc-js and OpenSSL, and neither has a
 * code that says more. Source: both tried against servers that do each of these. The first that fits counts.
 */
const FAILURES: [RegExp, ConnectionFailure][] = [
  [/^Failed to call GetSystemInfo: code: '[^']*valid authentication credentials/, UNAUTHENTICATED],
  [/^Failed to call GetSystemInfo: code: '[^']*does not have permission/, PERMISSION_DENIED],
  [
    /NotValidForName|ALTNAME_INVALID/,
    refused(
      "the server's certificate is for another host name",
      'It is to be for that of TEMPORAL_ADDRESS, or for TEMPORAL_TLS_SERVER_NAME where that is set',
    ),
  ],
  [
    /\(Expired|certificate has expired/,
    refused("the server's certificate has expired", 'Nothing here can help: it has to be renewed at the server'),
  ],
  [
    /InvalidContentType|wrong version number/,
    refused('the server does not speak TLS', 'TEMPORAL_TLS=false turns it off; an API key turns it on'),
  ],
  [alert('certificate expired|CertificateExpired'), refused('our certificate has expired', OUR_CERTIFICATE)],
  [
    alert('certificate required|CertificateRequired'),
    refused('the server wants a certificate of ours, and none is set', OUR_CERTIFICATE),
  ],
  [
    alert('unknown ca|UnknownCA'),
    refused('the server refuses our certificate: it does not know who signed it', OUR_CERTIFICATE),
  ],
  [
    alert('(?!InternalError|internal error)[A-Za-z ]+[:)"]'),
    refused('the server refuses our certificate', OUR_CERTIFICATE),
  ],
  [
    /InvalidCertificate|certificate|UnknownIssuer/,
    refused(
      "the server's certificate is not trusted",
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH (or …_DATA) names who signed it, where that is none of the authorities that this ' +
        'machine trusts; it may also lack those (on Debian they are the package ca-certificates)',
    ),
  ],
  [/KeyParse|PEM|ERR_OSSL/, refused("our certificate or its key can't be read", OUR_CERTIFICATE)],
  [/ConnectionRefused|ECONNREFUSED/, unreachable('connection refused')],
  [/dns error|Name resolution failed|ENOTFOUND/, unreachable('host name not found')],
  [/^status 4$|TimedOut|ETIMEDOUT/, unreachable('no answer')],
  [/^status 14$|currently unavailable/, unreachable('the server answers that it is unavailable')],
];

const CLOSED = unreachable(
  'the connection was closed (a server that expects TLS, or no Temporal server?)',
  'TEMPORAL_TLS=true turns TLS on',
);
const CLOSED_WITH_TLS = unreachable(
  'the connection was closed (a server that refuses our certificate, or no Temporal server?)',
  OUR_CERTIFICATE,
);

/** What TLS says of an alert of the server: rustls after and in the handshake, and OpenSSL. */
function alert(names: string): RegExp {
  return new RegExp(`(received fatal alert: |AlertReceived\\(|alert )(${names})`);
}

/**
 * Names the cause in words of our own: those of a server could repeat a key.
 *
 * @param withTls whether the connection was to be one with TLS.
 */
export function connectionFailureOf(error: unknown, withTls: boolean): ConnectionFailure {
  const denied = refusalOf(error);
  if (denied) return denied;
  const text = textOf(error);
  const known = FAILURES.find(([said]) => said.test(text));
  if (!known && text.startsWith('status')) return unreachable(`the server answers with gRPC ${text}`);
  return known?.[1] ?? (withTls ? CLOSED_WITH_TLS : CLOSED);
}

/** Whether the server refuses us, at the connection or at any later call. */
export function refusalOf(error: unknown): ConnectionFailure | undefined {
  const code = grpcErrorOf(error)?.code;
  if (code === GRPC_STATUS.UNAUTHENTICATED) return UNAUTHENTICATED;
  return code === GRPC_STATUS.PERMISSION_DENIED ? PERMISSION_DENIED : undefined;
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

function refused(cause: string, remedy: string): ConnectionFailure {
  return { cause, refused: true, remedy: `${remedy}. ` };
}

function unreachable(cause: string, remedy?: string): ConnectionFailure {
  return { cause, refused: false, remedy: remedy === undefined ? '' : `${remedy}. ` };
}
