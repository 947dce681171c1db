/** Files of a context as they arrive in requests: in JSON, as the raw body, in a form, in a zip. */
import { invalid, readBody } from '@gantry/http';
import { readArchive } from '@gantry/program';
import type { Request } from 'express';
import { isLeftOut, TREE_BYTES_MAX } from '../file-trees/file-tree';

export interface UploadedFile {
  path: string;
  content: Buffer;
}

/** The body of `PUT .../files/{path}`. @throws AppError 400, 413 */
export async function readFileBody(req: Request): Promise<Buffer> {
  if (req.is('multipart/form-data')) {
    const [file, another] = formFiles(req);
    if (!file || another) throw invalid([{ path: 'file', message: 'send exactly one file' }], 'bad_upload');
    return file.content;
  }
  if (!req.is('application/json')) return readBody(req, TREE_BYTES_MAX);
  // A request without a body and a content type counts as JSON elsewhere: see json-body.ts. Here it is an empty file.
  const isEmpty = !req.rawHeaders.some((header) => header.toLowerCase() === 'content-type');
  return isEmpty ? Buffer.alloc(0) : contentOf(req.body);
}

const WANTED =
  'send {"content": text} or {"content_base64": bytes}; to store JSON as it is, send it as application/octet-stream';

function contentOf(body: { content?: string; content_base64?: string } | undefined): Buffer {
  const { content, content_base64: base64 } = body ?? {};
  if ((content === undefined) === (base64 === undefined)) throw invalid([{ path: 'content', message: WANTED }]);
  if (content !== undefined) return Buffer.from(content);
  const bytes = Buffer.from(base64 as string, 'base64');
  if (bytes.toString('base64').replace(/(?<!=)=+$/, '') === (base64 as string).replace(/(?<!=)=+$/, '')) return bytes;
  throw invalid([{ path: 'content_base64', message: 'is not base64' }]);
}

/** The body of `POST .../upload`: files under their names, or the contents of a zip. @throws AppError 400 */
export async function readUpload(req: Request, { extract }: { extract: boolean }): Promise<UploadedFile[]> {
  const files = formFiles(req);
  if (!files.length)
    throw invalid([{ path: 'files', message: 'send one file or more, as parts of a form' }], 'bad_upload');
  if (!extract) return files;
  const [zip, another] = files;
  if (!zip || another) throw invalid([{ path: 'files', message: 'send exactly one zip to extract' }], 'bad_upload');
  return readArchive(zip.content, 'files', isLitter);
}

const formFiles = (req: Request): UploadedFile[] =>
  ((req.files ?? []) as Express.Multer.File[]).map(({ originalname, buffer }) => ({
    path: originalname,
    content: buffer,
  }));

/** Files that archivers add on their own. */
const isLitter = (path: string): boolean =>
  isLeftOut(path) || path.startsWith('__MACOSX/') || path.split('/').at(-1) === '.DS_Store';
