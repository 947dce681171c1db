/** The `fetch` that the AI SDK reaches providers with. */
import { OutboundError, type OutboundRequest, safeFetchStream, toPlainHeaders } from '@gantry/safe-fetch';
import { ModelCallError } from './call-failure';
import { toWebStream } from './web-stream';

/** To addresses of the operator. Keys are for the configured one: a redirect would take them elsewhere. */
export const fetchWithoutRedirects: typeof fetch = (url, init) => fetch(url, { ...init, redirect: 'error' });

const RESPONSE_BYTES_MAX = 32 << 20;
const WITHOUT_BODY = [204, 205, 304];

/** To addresses that a workspace has given: on the public internet, and never redirected. */
export const createOutboundFetch =
  (allow: string[]): typeof fetch =>
  async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input);
    const signal = init.signal ?? new AbortController().signal;
    try {
      const { status, headers, body } = await safeFetchStream(url, {
        allow,
        signal,
        responseBytesMax: RESPONSE_BYTES_MAX,
        method: (init.method ?? 'GET') as NonNullable<OutboundRequest['method']>,
        headers: { ...toPlainHeaders(init.headers), 'accept-encoding': 'identity' },
        ...(init.body != null && { body: String(init.body) }),
      });
      const shown = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, [value].flat().join(', ')]],
      );
      const hasBody = !WITHOUT_BODY.includes(status);
      if (!hasBody) body.destroy();
      const stream = hasBody ? toWebStream(body, () => body.destroy()) : null;
      return new Response(stream, { status: Math.max(200, status), headers: shown });
    } catch (err) {
      if (!(err instanceof OutboundError)) throw err;
      throw new ModelCallError('model_unavailable', err.message, err.code !== 'refused_address', undefined, err);
    }
  };
