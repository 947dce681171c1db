export type Attributes = Record<string, string | number>;

export interface SpanOptions {
  kind: 'server' | 'producer' | 'consumer' | 'internal';
  /** Absent or malformed: a new trace, which the sampler may leave out. */
  parent?: string | null | undefined;
  /** Epoch milliseconds; default now. */
  startedAt?: number;
  attributes?: Attributes;
}

export interface Span {
  /** For what is done on behalf of this span. */
  traceparent: string;
  end(outcome?: { failed?: boolean; attributes?: Attributes; at?: number }): void;
}
