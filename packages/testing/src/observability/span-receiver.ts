/** Takes spans over OTLP/HTTP, as a collector does, and keeps them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  /** Empty: none. */
  parentSpanId: string;
  attributes: Record<string, unknown>;
}

interface OtlpAttribute {
  key: string;
  value: Record<string, unknown>;
}

interface OtlpExport {
  resourceSpans: {
    resource: { attributes: OtlpAttribute[] };
    scopeSpans: { spans: (Omit<ReceivedSpan, 'attributes' | 'service'> & { attributes?: OtlpAttribute[] })[] }[];
  }[];
}

const toAttributeRecord = (attributes: OtlpAttribute[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export async function startSpanReceiver() {
  const bodies: string[] = [];
  const spans: ReceivedSpan[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    bodies.push(body);
    for (const { resource, scopeSpans } of (JSON.parse(body) as OtlpExport).resourceSpans) {
      const service = String(toAttributeRecord(resource.attributes)['service.name']);
      for (const { name, traceId, spanId, parentSpanId = '', attributes } of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({ service, name, traceId, spanId, parentSpanId, attributes: toAttributeRecord(attributes) });
    }
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** As they came. */
    bodies,
    spans,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export type SpanReceiver = Awaited<ReturnType<typeof startSpanReceiver>>;
