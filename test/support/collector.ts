import { startServer } from './http-server';

/** A span as OTLP/JSON has it. */
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

/** A collector that speaks OTLP over HTTP in JSON, and keeps what it gets. */
export async function startCollector() {
  const server = await startServer();
  server.script({ json: {} });
  const bodies = () => server.received.map(({ body }) => body.toString('utf8'));
  return {
    url: server.url,
    /** All that was sent, as it was. */
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
