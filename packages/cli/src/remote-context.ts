/** Contexts on the server, as files of a workspace folder. */
import { type Gantry, paginate } from '@gantry/sdk';
import { collectItems } from './collect-items';
import type { LocalFile } from './worker-folder';
import { CONTEXTS } from './workspace-folder';

/** @throws ApiError */
export async function loadContextFiles(gantry: Gantry, name: string): Promise<LocalFile[]> {
  const files = await collectItems(
    paginate(gantry.worker, '/api/contexts/{name}/files', { params: { path: { name }, query: { content: true } } }),
  );
  return files.map(({ path: file, content, content_base64: base64 }) => ({
    path: `${CONTEXTS}/${name}/${file}`,
    content: content === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(content),
  }));
}
