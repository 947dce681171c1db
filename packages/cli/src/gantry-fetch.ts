import { toNotJsonError } from '@gantry/sdk';
import { fetchOverHttp } from './http-fetch';

/** A Gantry has both in each response; a proxy in front of it may remove one. */
const HEADERS = ['X-Request-Id', 'RateLimit-Limit'];

/** fetch for the server of a profile. @throws ApiError where another program responds */
export async function fetchFromGantry(request: Request): Promise<Response> {
  const response = await fetchOverHttp(request);
  if (!canBeGantry(response)) {
    await response.body?.cancel();
    throw toNotJsonError(response, `${new URL(request.url).origin} is not a Gantry server`);
  }
  return response;
}

/** A proxy in front of a Gantry responds itself where the server is down, the body too large or the client too fast. */
const canBeGantry = ({ status, headers, redirected }: Response): boolean =>
  redirected || status >= 500 || status === 413 || status === 429 || HEADERS.some((name) => headers.has(name));
