/** A small OAuth server with bad habits, which a test switches on one by one. */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Habits {
  /** Undefined: the answer names no time. */
  expiresIn?: number | string | undefined;
  /** Each refresh token is good once, and another comes with the answer. */
  rotates: boolean;
  /** The answer has no refresh token. */
  withoutRefreshToken: boolean;
  /** Answer of the token endpoint instead of tokens. */
  answers?: { status: number; body: string; type?: string } | undefined;
  /** Until it is resolved the token endpoint says nothing. */
  waits?: Promise<unknown> | undefined;
  /** Its token endpoint refuses, in words that repeat the request and its credential. */
  repeats?: ((text: string) => string) | undefined;
  account: string;
  scope?: string | undefined;
}

export interface FakeProvider {
  url: string;
  /** `127.0.0.1:port`, for the list of what may be reached. */
  host: string;
  habits: Habits;
  /** Every request to the token endpoint. */
  asked: URLSearchParams[];
  revoked: string[];
  /** Follows an authorization URL as a person who consents would. @returns where the browser is sent back to */
  consent(authorizationUrl: string): URL;
  /** Ends an access token. */
  end(accessToken: string): void;
  /** The access tokens that are good. */
  good: Set<string>;
  stop(): Promise<void>;
}

export async function startFakeProvider(): Promise<FakeProvider> {
  const codes = new Map<string, { challenge: string; redirectUri: string }>();
  const refreshTokens = new Set<string>();
  const good = new Set<string>();
  const asked: URLSearchParams[] = [];
  const revoked: string[] = [];
  const habits: Habits = { expiresIn: 3_600, rotates: true, withoutRefreshToken: false, account: 'ada@example.com' };
  const random = () => randomBytes(12).toString('hex');

  const json = (res: ServerResponse, status: number, body: object) =>
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

  function grant(res: ServerResponse) {
    const accessToken = `at_${random()}`;
    const refreshToken = `rt_${random()}`;
    good.add(accessToken);
    refreshTokens.add(refreshToken);
    json(res, 200, {
      access_token: accessToken,
      ...(habits.expiresIn !== undefined && { expires_in: habits.expiresIn }),
      ...(!habits.withoutRefreshToken && { refresh_token: refreshToken }),
      ...(habits.scope !== undefined && { scope: habits.scope }),
    });
  }

  async function token(form: URLSearchParams, basic: string, res: ServerResponse) {
    asked.push(form);
    await habits.waits;
    if (habits.repeats) {
      const said = [...form.values(), basic, ...Buffer.from(basic, 'base64').toString().split(':')].map(habits.repeats);
      return json(res, 400, { error: 'invalid_grant', error_description: `refused: ${said.join(' ')}` });
    }
    if (habits.answers) {
      const { status, body, type = 'text/html' } = habits.answers;
      return res.writeHead(status, { 'Content-Type': type }).end(body);
    }
    if (form.get('grant_type') === 'refresh_token') {
      const presented = form.get('refresh_token') ?? '';
      if (!refreshTokens.has(presented)) {
        return json(res, 400, { error: 'invalid_grant', error_description: 'the refresh token was used before' });
      }
      if (habits.rotates) refreshTokens.delete(presented);
      return grant(res);
    }
    const issued = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!issued || issued.challenge !== verifier || issued.redirectUri !== form.get('redirect_uri')) {
      return json(res, 400, { error: 'invalid_grant', error_description: 'the code is not good' });
    }
    return grant(res);
  }

  async function answer(req: IncomingMessage, res: ServerResponse) {
    let body = '';
    for await (const chunk of req) body += chunk;
    if (req.url === '/token')
      return token(new URLSearchParams(body), req.headers.authorization?.replace('Basic ', '') ?? '', res);
    if (req.url === '/revoke') {
      revoked.push(new URLSearchParams(body).get('token') ?? '');
      return json(res, 200, {});
    }
    const bearer = req.headers.authorization?.replace('Bearer ', '') ?? '';
    return good.has(bearer) ? json(res, 200, { email: habits.account }) : json(res, 401, { error: 'invalid_token' });
  }

  const server = createServer((req, res) => void answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    habits,
    asked,
    revoked,
    good,
    consent: (authorizationUrl) => {
      const { searchParams } = new URL(authorizationUrl);
      const code = `code_${random()}`;
      const redirectUri = searchParams.get('redirect_uri') ?? '';
      codes.set(code, { challenge: searchParams.get('code_challenge') ?? '', redirectUri });
      const back = new URL(redirectUri);
      back.searchParams.set('code', code);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      return back;
    },
    end: (accessToken) => void good.delete(accessToken),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** As the operator's variable would have it. */
export const appAt = ({ url }: Pick<FakeProvider, 'url'>) => ({
  client_id: 'gantry-test',
  client_secret: 'a-secret-of-this-test',
  provider: {
    protocol: 'oauth2' as const,
    name: 'Acme CRM',
    hosts: ['api.acme.example'],
    scopes: ['contacts.read'],
    authorize_url: `${url}/authorize`,
    token_url: `${url}/token`,
    revoke_url: `${url}/revoke`,
    userinfo_url: `${url}/me`,
  },
});

/** Builds options of a service that knows the provider as `acme`. */
export const buildProviderOptions = (provider: FakeProvider, getTime: () => number) => ({
  oauthApps: { acme: appAt(provider) },
  outboundAllow: [provider.host],
  now: () => new Date(getTime()),
});
