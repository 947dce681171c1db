/** Calling the automation surface of a running stack as a client does. */
import { createZip } from './zip';

export interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they know
  body: any;
}

/** Only a service that hangs takes this long, even on a busy machine. */
const RESPONSE_MS_MAX = 60_000;

export type ApiCall = (method: string, path: string, body?: unknown) => Promise<ApiResponse>;

/**
 * Status 0 without a response: what a caller sees of a service that is being killed.
 * @param workspaceId of the requests; absent: the workspace of the token
 */
export function createApiClient(baseUrl: string, token: string, workspaceId?: string): ApiCall {
  return async (method, path, body) => {
    try {
      const response = await fetch(new URL(path, baseUrl), {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          ...(workspaceId && { 'X-Svc-Workspace': workspaceId }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(RESPONSE_MS_MAX),
      });
      const text = await response.text();
      return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
    } catch {
      return { status: 0, body: null };
    }
  };
}

export interface DeployedAutomation {
  id: string;
  artifactId: string;
  url: string;
}

/** Uploads `files`, makes an artifact of them and deploys it. @throws Error with the answer that was not expected */
export async function deployAutomation(
  call: ApiCall,
  files: Record<string, string>,
  manifest: Record<string, unknown>,
): Promise<DeployedAutomation> {
  const expectStatus = (what: string, { status, body }: ApiResponse) => {
    if (status !== 200 && status !== 201) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const { uploadUrl, storageKey } = expectStatus('upload-url', await call('POST', '/api/artifacts/upload-url'));
  const put = await fetch(uploadUrl, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/zip' },
    body: new Uint8Array(await createZip(files)),
  });
  if (!put.ok) throw new Error(`upload: ${put.status} ${await put.text()}`);
  const artifact = { manifest, entrypoint: 'main.py', storageKey };
  const { artifactId } = expectStatus('artifact', await call('POST', '/api/artifacts', artifact));
  const { automationId, url } = expectStatus('deploy', await call('POST', '/api/deploy', { artifactId }));
  return { id: automationId, artifactId, url };
}
