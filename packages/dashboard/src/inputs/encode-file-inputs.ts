import { api, type Page } from '../shell/api';

/** Limit of a file inside a request's body, which may have 1 MB: base64 takes a third more than the file. */
const INLINE_BYTES_MAX = 700_000;

/** Encodes the files among the inputs: a member's are uploaded, a visitor's go inside the request. */
export async function encodeFileInputs(
  inputs: Record<string, unknown>,
  access: Page['access'],
): Promise<Record<string, unknown>> {
  const send = access === 'member' ? uploadInputFile : encodeInlineFile;
  const entries = await Promise.all(
    Object.entries(inputs).map(async ([name, value]) => [name, value instanceof File ? await send(value) : value]),
  );
  return Object.fromEntries(entries);
}

const uploadInputFile = async (file: File) => ({ name: file.name, storageKey: await uploadFile(file) });

/** @returns the key that names the upload in later requests */
export async function uploadFile(file: File): Promise<string> {
  const { uploadUrl, storageKey, maxBytes } = await api.automation.POST('/api/artifacts/upload-url');
  if (file.size > maxBytes) throw createTooLargeError(file, maxBytes, 'Choose a smaller file.');
  const response = await fetch(uploadUrl, { method: 'PUT', body: file });
  if (!response.ok) {
    throw new Error(`“${file.name}” couldn’t be uploaded (HTTP ${response.status}). Try again.`);
  }
  return storageKey;
}

async function encodeInlineFile(file: File): Promise<{ name: string; content_base64: string }> {
  if (file.size > INLINE_BYTES_MAX)
    throw createTooLargeError(file, INLINE_BYTES_MAX, 'Sign in to upload larger files.');
  const dataUrl = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`“${file.name}” can’t be read. Choose the file again.`));
    reader.readAsDataURL(file);
  });
  return { name: file.name, content_base64: dataUrl.slice(dataUrl.indexOf(',') + 1) };
}

const createTooLargeError = (file: File, maxBytes: number, nextStep: string) =>
  new Error(`“${file.name}” is larger than the ${Math.floor(maxBytes / 1_000)} KB upload limit. ${nextStep}`);
