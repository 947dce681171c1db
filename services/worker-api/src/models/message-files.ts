/**
 * Images and files of a question. The code of a run hands them over before it asks, and names them by their content:
 * they are read from what that very run has stored, whatever the question says.
 */
import { createHash } from 'node:crypto';
import {
  isModelImage,
  isModelText,
  MODEL_FILE_BYTES_MAX,
  MODEL_FILES_BYTES_MAX,
  type ToolFailure,
} from '@gantry/events';
import { ObjectMissingError, ObjectTooLargeError } from '@gantry/object-store';
import { buildAttachmentKey, type Run } from '@gantry/run-engine';
import { buildFailure } from '../connection-tools/tool-result';
import { listFiles, type MessageFile, type ModelCallRequest, type ToPart } from './model-call-request';
import type { ModelDeps } from './model-deps';

type LoadedFiles = { partOf: ToPart } | { failed: ToolFailure };

/** @param mask of texts: what is in an image or in a PDF cannot be masked */
export async function loadMessageFiles(
  { objects }: Pick<ModelDeps, 'objects'>,
  { id, workspaceId }: Run,
  messages: ModelCallRequest['messages'],
  mask: (text: string) => string,
): Promise<LoadedFiles> {
  const data = new Map<string, Buffer>();
  let bytes = 0;
  for (const file of listFiles(messages)) {
    const known = data.get(file.sha256) ?? (await read(file));
    if (!known) return toRefusal(`this run has not provided the ${file.type} ${getFileName(file)}`);
    data.set(file.sha256, known);
    bytes += known.length;
    if (bytes > MODEL_FILES_BYTES_MAX) {
      return toRefusal(`the images and files in a model call exceed ${MODEL_FILES_BYTES_MAX >> 20} MB in total`);
    }
  }
  return { partOf: (file) => toPart(file, data.get(file.sha256) ?? Buffer.alloc(0)) };

  async function read({ sha256 }: MessageFile): Promise<Buffer | null> {
    try {
      const found = await objects.getBuffer(buildAttachmentKey(workspaceId, id, sha256), MODEL_FILE_BYTES_MAX);
      return createHash('sha256').update(found).digest('hex') === sha256 ? found : null;
    } catch (err) {
      if (err instanceof ObjectMissingError || err instanceof ObjectTooLargeError) return null;
      throw err;
    }
  }

  function toPart(file: MessageFile, found: Buffer): ReturnType<ToPart> {
    const { media_type: mediaType, name } = file;
    if (isModelText(mediaType)) return { type: 'text', text: `${getFileName(file)}:\n${mask(found.toString())}` };
    // A Buffer would be counted by its JSON.
    const bytesOf = new Uint8Array(found);
    if (isModelImage(mediaType)) return { type: 'image', image: bytesOf, mediaType };
    return { type: 'file', data: bytesOf, mediaType, ...(name !== undefined && { filename: name }) };
  }
}

const getFileName = ({ name, sha256 }: MessageFile): string => name ?? `sha256:${sha256.slice(0, 12)}`;

const toRefusal = (message: string) => buildFailure('invalid_arguments', `messages: ${message}`);
