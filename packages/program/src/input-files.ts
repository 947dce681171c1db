/**
 * Inputs of type `file`: from a request's body or an upload in the object store, from which the executor downloads
 * them.
 */

import { invalid } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { ObjectStore } from '@gantry/object-store';
import type { RunSpec } from '@gantry/run-engine';
import type { InputItem } from './items';

/** Values accepted by input-schema.ts. */
interface FileInput {
  name: string;
  content_base64?: string;
  storageKey?: string;
}

export interface StoredInputs {
  /** Each file as `{name, size}`: a run's row contains neither bytes nor keys. */
  inputs: Record<string, unknown>;
  files: RunSpec['files'];
}

const MB = 1024 * 1024;
const SIZE_MB_DEFAULT = 10;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export interface FileInputDeps {
  objects: ObjectStore;
  /**
   * Verifies that an upload belongs to the workspace. Null if the caller may not name uploads: an anonymous visitor
   * with a link.
   * @throws AppError 404
   */
  getUpload: ((storageKey: string) => Promise<unknown>) | null;
}

/** @throws AppError 400 naming the input; errors of `getUpload` */
export async function storeInputFiles(
  deps: FileInputDeps,
  workspaceId: string,
  items: InputItem[],
  inputs: Record<string, unknown>,
): Promise<StoredInputs> {
  const stored: StoredInputs = { inputs, files: [] };
  for (const item of items) {
    const value = inputs[item.name];
    if (item.type !== 'file' || value === undefined) continue;
    const { key, size } = await storeFile(deps, workspaceId, item, value as FileInput);
    const { name } = value as FileInput;
    stored.files.push({ input: item.name, name, key, size });
    // Bounded: 100 inputs (ITEMS_MAX).
    stored.inputs = { ...stored.inputs, [item.name]: { name, size } };
  }
  return stored;
}

async function storeFile(
  { objects, getUpload }: FileInputDeps,
  workspaceId: string,
  item: InputItem,
  { name, content_base64: content, storageKey }: FileInput,
): Promise<{ key: string; size: number }> {
  const toInputError = (message: string) => invalid([{ path: `inputs.${item.name}`, message }], 'invalid_inputs');
  if (name === '.' || name === '..') throw toInputError('the file name is not valid');
  if (!isAccepted(name, item.accepts))
    throw toInputError(`must be one of these file types: ${item.accepts?.join(', ')}`);
  if ((content === undefined) === (storageKey === undefined)) {
    throw toInputError('must have either content_base64 or the storageKey of an upload');
  }
  const sizeMax = (item.max_size_mb ?? SIZE_MB_DEFAULT) * MB;
  const assertSize = (size: number) => {
    if (size > sizeMax) throw toInputError(`is larger than ${sizeMax / MB} MB`);
    return size;
  };
  if (storageKey !== undefined) {
    if (!getUpload) throw toInputError('must have content_base64: only workspace members can use uploads');
    await getUpload(storageKey);
    const found = await objects.head(storageKey);
    if (!found) throw toInputError('nothing has been uploaded for storageKey yet: PUT the file to uploadUrl first');
    return { key: storageKey, size: assertSize(found.size) };
  }
  if (content === undefined || !BASE64.test(content)) throw toInputError('content_base64 is not valid base64');
  const bytes = Buffer.from(content, 'base64');
  const key = `${workspaceId}/inputs/${newId('in_')}`;
  assertSize(bytes.length);
  await objects.put(key, bytes);
  return { key, size: bytes.length };
}

/**
 * `accepts` lists extensions; a media type only affects the browser's file dialog and is not checked against the name.
 */
function isAccepted(name: string, accepts: string[] | undefined): boolean {
  const extensions = accepts?.filter((entry) => entry.startsWith('.'));
  if (!extensions?.length || extensions.length !== accepts?.length) return true;
  return extensions.some((extension) => name.toLowerCase().endsWith(extension.toLowerCase()));
}
