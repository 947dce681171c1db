/** A live stream that a test leaves open, to see when the service ends it. */

export interface OpenStream {
  status: number;
  headers: Headers;
  /** True once the service has ended it. */
  hasEnded(): boolean;
  close(): void;
}

export async function openStream(url: string, headers: Record<string, string> = {}): Promise<OpenStream> {
  const cut = new AbortController();
  const answer = await fetch(url, { headers: { Accept: 'text/event-stream', ...headers }, signal: cut.signal });
  let ended = false;
  const readToEnd = async () => {
    for await (const _ of answer.body as unknown as AsyncIterable<Uint8Array>);
  };
  readToEnd().then(
    () => {
      ended = true;
    },
    () => {},
  );
  return { status: answer.status, headers: answer.headers, hasEnded: () => ended, close: () => cut.abort() };
}
