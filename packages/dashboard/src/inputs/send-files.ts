import { unwrap } from '@gantry/api-client';
import { api } from '../api';

/** Uploads every file among the inputs; what comes back names each by its storage key, as a run expects it. */
export async function sendFiles(inputs: Record<string, unknown>): Promise<Record<string, unknown>> {
  const sent = await Promise.all(
    Object.entries(inputs).map(async ([name, value]) => [name, value instanceof File ? await sendFile(value) : value]),
  );
  return Object.fromEntries(sent);
}

async function sendFile(file: File): Promise<string> {
  const { uploadUrl, storageKey, maxBytes } = await unwrap(api.POST('/api/artifacts/upload-url'));
  if (file.size > maxBytes) throw new Error(`“${file.name}” is larger than the ${maxBytes / 1e6} MB that can be sent.`);
  // The URL is signed for this content type, whatever the file is.
  const response = await fetch(uploadUrl, {
    method: 'PUT',
    body: file,
    headers: { 'Content-Type': 'application/zip' },
  });
  if (!response.ok)
    throw new Error(`“${file.name}” could not be sent (the server answered ${response.status}). Run again.`);
  return storageKey;
}
