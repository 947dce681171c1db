import type { WorkerSchemas as Schemas } from '@gantry/sdk';

export interface FakeOauth {
  grants: Schemas['OauthGrant'][];
  /** The submitted decision, and its workspace. */
  decided: { body: Record<string, unknown>; workspace: string | null } | null;
}

export const createOauthState = (): FakeOauth => ({
  grants: [
    {
      id: 'gra_1',
      client: { id: 'ocl_1', name: 'Desktop agent', host: null },
      workspace: { id: 'ws_ops', name: 'Operations' },
      toolsets: ['workers', 'runs'],
      readonly: true,
      created_at: '2026-01-05T09:00:00.000Z',
      last_used_at: '2026-01-05T10:00:00.000Z',
      expires_at: '2036-01-05T09:00:00.000Z',
    },
  ],
  decided: null,
});

interface OauthRequest {
  line: string;
  part: string[];
  workspaceId: string | undefined;
  body: () => Promise<Record<string, unknown>>;
}

export async function handleOauthRequest(
  fake: { oauth: FakeOauth },
  req: OauthRequest,
): Promise<{ status: number; body?: object }> {
  const { line, part } = req;
  if (line === 'GET /auth/oauth/grants') return { status: 200, body: fake.oauth.grants };
  if (line.startsWith('DELETE ')) {
    fake.oauth.grants = fake.oauth.grants.filter(({ id }) => id !== part.at(-1));
    return { status: 204 };
  }
  const body = await req.body();
  if (part.at(-1) === 'lookup') {
    if (body.client_id === 'ocl_nobody') {
      const detail = 'no client is registered under this client_id';
      return { status: 400, body: { detail, code: 'unknown_client' } };
    }
    const redirectWithError =
      body.client_id === 'ocl_refused'
        ? 'http://127.0.0.1:4711/callback?error=invalid_request&error_description=no+challenge'
        : null;
    const client = { name: 'Desktop <b>agent</b>', host: null, uri: null, known_by: 'registration' };
    return {
      status: 200,
      body: {
        client,
        redirect_host: '127.0.0.1:4711',
        opens: 'this_device',
        readonly: false,
        refused: redirectWithError,
      },
    };
  }
  fake.oauth.decided = { body, workspace: req.workspaceId ?? null };
  return { status: 200, body: { redirect_to: '/decided' } };
}
