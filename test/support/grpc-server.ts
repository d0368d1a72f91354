import {
  createSecureServer,
  createServer,
  type Http2Server,
  type SecureServerOptions,
  type ServerHttp2Stream,
} from 'node:http2';
import { listen } from './listen';

const OK = 0;

export type GrpcServer = Awaited<ReturnType<typeof startGrpcServer>>;

/**
 * A minimal gRPC server that returns a status for each call, plus an empty message if it is 0. It keeps the
 * `authorization` of each call.
 *
 * @param statusOf returns the status and message for a method such as `GetSystemInfo`, or undefined to never respond.
 */
export async function startGrpcServer(
  statusOf: (method: string) => { status: number; message?: string } | undefined,
  tls?: SecureServerOptions,
) {
  const authorizations: (string | undefined)[] = [];
  const server: Http2Server = tls ? createSecureServer(tls) : createServer();
  server.on('stream', (stream, headers) => {
    authorizations.push(headers.authorization);
    const answered = statusOf(headers[':path']?.split('/').at(-1) ?? '');
    if (!answered) return;
    const { status, message = '' } = answered;
    answer(stream, { 'grpc-status': String(status), 'grpc-message': message });
  });
  server.on('sessionError', () => {});
  const { port } = await listen(server);
  return { port, authorizations };
}

function answer(stream: ServerHttp2Stream, trailers: Record<string, string>): void {
  stream.on('error', () => {});
  const headers = { ':status': 200, 'content-type': 'application/grpc+proto' };
  if (trailers['grpc-status'] !== String(OK)) return stream.respond({ ...headers, ...trailers }, { endStream: true });
  stream.respond(headers, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(Buffer.alloc(5));
}
