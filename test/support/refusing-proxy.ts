import { connect, constants, createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { listen } from './listen';

/** A proxy that rejects calls like a Temporal server with authorization, which the test server lacks. */
export async function startRefusingProxy(serverAddress: string) {
  let refused: number | undefined;
  let refusals = 0;
  const server = createServer();
  server.on('session', (session) => {
    const upstream = connect(`http://${serverAddress}`);
    for (const one of [session, upstream]) one.on('error', () => undefined);
    session.on('close', () => upstream.destroy());
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      stream.on('error', () => undefined);
      if (refused === undefined) return forward(stream, headers, upstream);
      refusals += 1;
      const status = { 'grpc-status': String(refused), 'grpc-message': 'Request unauthorized.' };
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true });
    });
  });
  const { port } = await listen(server);
  return {
    address: `127.0.0.1:${port}`,
    /** Answers all further calls with this gRPC status, or forwards them if it is undefined. */
    refuse: (status?: number) => void (refused = status),
    /** The number of rejected calls. */
    refusals: () => refusals,
  };
}

function forward(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, upstream: ClientHttp2Session): void {
  const request = upstream.request({ ...headers, ':authority': undefined });
  let trailers: IncomingHttpHeaders = {};
  request.on('error', () => stream.destroy());
  request.on('trailers', (received: IncomingHttpHeaders) => (trailers = received));
  request.on('response', (answer) => {
    if (!stream.destroyed) stream.respond({ ...answer }, { waitForTrailers: true });
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.on('close', () => request.close(constants.NGHTTP2_CANCEL));
  stream.pipe(request);
  request.pipe(stream);
}
