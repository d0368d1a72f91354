import { startServer } from './http-server';

/** A span in OTLP/JSON. */
export interface CollectedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Record<string, string | number>;
}

interface Export {
  resourceSpans: { scopeSpans: { spans: (Omit<CollectedSpan, 'attributes'> & { attributes: Attribute[] })[] }[] }[];
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}

export type Collector = Awaited<ReturnType<typeof startCollector>>;

/** An OTLP collector (JSON over HTTP) that keeps everything it receives. */
export async function startCollector() {
  const server = await startServer();
  server.script({ json: {} });
  const bodies = () => server.received.map(({ body }) => body.toString('utf8'));
  return {
    url: server.url,
    /** Everything received, unchanged. */
    get bodies(): string {
      return bodies().join('\n');
    },
    get spans(): CollectedSpan[] {
      return bodies().flatMap(spansOf);
    },
  };
}

function spansOf(body: string): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body) as Export;
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return spans.map(({ attributes, ...span }) => ({
    ...span,
    attributes: Object.fromEntries(
      attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']),
    ),
  }));
}
