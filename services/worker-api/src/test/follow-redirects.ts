/**
 * Follows redirects as a browser does, with the cookies that each response sets.
 * @returns the first address that begins with `callback`, or `about:<status>` where a response redirects nowhere
 */
export async function followRedirects(from: URL, callback: string, cookies: [string, string][] = []): Promise<URL> {
  const jar = new Map(cookies);
  for (let next = from; ; ) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=');
      jar.set(name, value);
    }
    next = new URL(answer.headers.get('location') ?? `about:${answer.status}`, next);
    if (next.href.startsWith(callback) || next.protocol === 'about:') return next;
  }
}
