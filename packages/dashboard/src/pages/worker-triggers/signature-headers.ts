/** Signs a request by Standard Webhooks: HMAC-SHA-256 over its id, its timestamp and its body. */
export async function buildSignatureHeaders(signingKey: string, body: string): Promise<Record<string, string>> {
  const id = `msg_${crypto.getRandomValues(new Uint32Array(4)).join('')}`;
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const bytes = Uint8Array.from(atob(signingKey.trim().replace(/^whsec_/, '')), (char) => char.charCodeAt(0));
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  const encoded = btoa(String.fromCharCode(...new Uint8Array(signature)));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${encoded}` };
}

/** Returns whether the browser can sign, which it can only on https and localhost. */
export const canSign = (): boolean => globalThis.crypto?.subtle !== undefined;
