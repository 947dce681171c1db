/** Signs a request as Standard Webhooks has it: HMAC-SHA-256 over its id, its time and its body. */
export async function signedHeaders(signingKey: string, body: string): Promise<Record<string, string>> {
  const id = `msg_${crypto.getRandomValues(new Uint32Array(4)).join('')}`;
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const bytes = Uint8Array.from(atob(signingKey.trim().replace(/^whsec_/, '')), (char) => char.charCodeAt(0));
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  const encoded = btoa(String.fromCharCode(...new Uint8Array(signature)));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${encoded}` };
}

/** Browsers sign on https and on localhost only. */
export const canSign = (): boolean => globalThis.crypto?.subtle !== undefined;
