import { createHash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export const hashText = (text: string) => createHash('sha256').update(text).digest('hex');

/** Serves published skills as the skills surface does, with the hash of their text. @param find by slug */
export async function startSkillsSurface(find: (slug: string) => { title: string; body_md: string } | null) {
  const server = http.createServer(({ url }, res) => {
    const [, slug = ''] = /^\/api\/v1\/skills\/([a-z-]+)$/.exec(url ?? '') ?? [];
    const skill = find(slug);
    const body = skill ? { ...skill, content_hash: hashText(skill.body_md) } : { detail: 'no such skill' };
    res.writeHead(skill ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
