/** Requests that are wrong in every way that can be seen without knowing who sends them. */

export interface HostileRequest {
  what: string;
  send: () => Promise<{ status: number }>;
}

/** @param method of those with a body; others are sent with a query alone */
export function buildHostileRequests(url: string, method: string): HostileRequest[] {
  const send = async (to: string, init: RequestInit = {}): Promise<{ status: number }> => {
    const answer = await fetch(to, { method, redirect: 'manual', ...init });
    await answer.arrayBuffer();
    return { status: answer.status };
  };
  const sendWithType = (type: string, body: string, more: Record<string, string> = {}) =>
    send(url, { headers: { 'Content-Type': type, ...more }, body });
  const query = { what: 'an unknown query', send: () => send(`${url}?nonsense=%00&limit=-1&since=yesterday`) };
  const key = { what: 'a bad Idempotency-Key', send: () => send(url, { headers: { 'Idempotency-Key': 'a b' } }) };
  if (method === 'GET' || method === 'HEAD') return [query, key];
  return [
    query,
    key,
    { what: 'malformed JSON', send: () => sendWithType('application/json', '{"a": ') },
    { what: 'JSON of another shape', send: () => sendWithType('application/json', '[[[[]]]]') },
    { what: 'no JSON', send: () => sendWithType('text/plain', 'nonsense') },
    { what: 'a type that is none', send: () => sendWithType('nonsense', 'nonsense') },
    { what: 'half of a form', send: () => sendWithType('multipart/form-data; boundary=x', '--x\r\nhalf') },
    {
      what: 'a body that is not compressed',
      send: () => sendWithType('application/json', '{}', { 'Content-Encoding': 'gzip' }),
    },
    { what: 'a prototype', send: () => sendWithType('application/json', '{"__proto__":{"a":1}}') },
    { what: '100 KB of names', send: () => sendWithType('application/json', `{${'"a":1,'.repeat(17_000)}"b":1}`) },
  ];
}
