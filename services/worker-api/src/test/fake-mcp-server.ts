/** An MCP server of 2025 that people sign in to, and its authorization server, in one process over a real socket. */
import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** Ways in which it misbehaves. */
export interface Habits {
  /** Fields of its metadata documents. */
  resource?: string;
  issuer?: string;
  metadata?: Record<string, unknown>;
  /** The answer to registration. */
  registers?: { status: number; body: object };
  /** It has no metadata of itself (2025-03-26). */
  isOld?: boolean;
  /** It lets everybody in. */
  isOpen?: boolean;
  /** Tokens end after so many seconds; a refresh token is good once. */
  expiresIn?: number;
}

export async function startFakeMcpServer() {
  const habits: Habits = {};
  const seen = { registrations: [] as unknown[], tokens: [] as Record<string, string>[], revoked: [] as string[] };
  const codes = new Map<string, URLSearchParams>();
  const good = new Set<string>();
  const refreshes = new Set<string>();
  let origin = '';

  const server = http.createServer(async (req, res) => {
    const text = (await req.toArray()).map(String).join('');
    const url = new URL(req.url ?? '/', origin);
    const send = (status: number, body: object, headers: Record<string, string> = {}) =>
      res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    const known = url.pathname;
    if (known === '/.well-known/oauth-protected-resource/mcp' && !habits.isOld) {
      const resource = habits.resource ?? `${origin}/mcp`;
      return send(200, { resource, authorization_servers: [origin], scopes_supported: ['read', 'write'] });
    }
    if (known === '/.well-known/oauth-authorization-server') return send(200, { ...metadata(), ...habits.metadata });
    if (known === '/register') {
      seen.registrations.push(JSON.parse(text));
      const { status, body } = habits.registers ?? { status: 201, body: { client_id: 'registered-1' } };
      return send(status, body);
    }
    if (known === '/revoke') {
      seen.revoked.push(new URLSearchParams(text).get('token') ?? '');
      return send(200, {});
    }
    if (known === '/token') return send(...tokens(new URLSearchParams(text)));
    if (known !== '/mcp') return send(404, {});
    const token = req.headers.authorization?.slice('Bearer '.length) ?? '';
    if (!habits.isOpen && !good.has(token)) {
      const where = habits.isOld ? '' : `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", `;
      return send(401, {}, { 'www-authenticate': `Bearer ${where}scope="read"` });
    }
    const { id, method } = JSON.parse(text);
    if (id === undefined) return void res.writeHead(202).end();
    const serverInfo = { name: 'signed-in', version: '1' };
    const tools = [{ name: 'list_issues', description: 'Lists.', inputSchema: { type: 'object' } }];
    const results: Record<string, object> = {
      initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
      'tools/list': { tools },
    };
    const error = { code: -32601, message: 'Method not found' };
    send(200, { jsonrpc: '2.0', id, ...(results[method] ? { result: results[method] } : { error }) });
  });

  const metadata = () => ({
    issuer: habits.issuer ?? origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    revocation_endpoint: `${origin}/revoke`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
  });

  function tokens(asked: URLSearchParams): [number, object] {
    seen.tokens.push(Object.fromEntries(asked));
    const refusal: [number, object] = [400, { error: 'invalid_grant' }];
    if (asked.get('resource') !== `${origin}/mcp`) return [400, { error: 'invalid_target' }];
    if (asked.get('grant_type') === 'refresh_token') {
      if (!refreshes.delete(asked.get('refresh_token') ?? '')) return refusal;
    } else {
      const left = codes.get(asked.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(asked.get('code_verifier') ?? '')
        .digest('base64url');
      if (left?.get('code_challenge') !== challenge || left.get('client_id') !== asked.get('client_id')) return refusal;
    }
    const [access, refresh] = [randomBytes(20).toString('hex'), randomBytes(20).toString('hex')];
    good.clear();
    good.add(access);
    refreshes.add(refresh);
    const expiresIn = habits.expiresIn ?? 3_600;
    return [200, { access_token: access, token_type: 'Bearer', expires_in: expiresIn, refresh_token: refresh }];
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    habits,
    seen,
    good,
    refreshes,
    url: `${origin}/mcp`,
    origin,
    /** As the person's browser comes back from the consent page. */
    consent(authorizationUrl: string, { iss = origin }: { iss?: string | null } = {}): URL {
      const asked = new URL(authorizationUrl).searchParams;
      const code = randomBytes(16).toString('hex');
      codes.set(code, asked);
      const back = new URL(asked.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', asked.get('state') ?? '');
      if (iss !== null) back.searchParams.set('iss', iss);
      return back;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
