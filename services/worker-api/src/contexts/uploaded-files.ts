/** Files of a context as they arrive in requests: in JSON, as the raw body, in a form, in a zip. */
import { AppError, type FieldProblem, invalid } from '@gantry/errors';
import { JSON_BYTES_MAX, measureJsonSize, readBody } from '@gantry/http';
import { readArchive } from '@gantry/program';
import type { Request } from 'express';
import { isIgnored, TREE_BYTES_MAX } from '../file-trees/file-tree';

/** As VersionMessage of the OpenAPI file. */
const MESSAGE_CHARS_MAX = 500;

export interface UploadedFile {
  path: string;
  content: Buffer;
}

/** The body of `PUT .../files/{path}`. @throws AppError 400, 413 */
export async function readFileBody(req: Request): Promise<{ content: Buffer; message: string | null }> {
  if (req.is('multipart/form-data')) {
    const [file, another] = parseFormFiles(req);
    if (!file || another) throw invalid([{ path: 'file', message: 'send exactly one file' }], 'bad_upload');
    return { content: file.content, message: null };
  }
  const bytes = await readBody(req, TREE_BYTES_MAX);
  const wrapped = req.is('application/json') ? findEnvelope(bytes) : undefined;
  return wrapped
    ? { content: decodeContent(wrapped), message: wrapped.message?.trim() || null }
    : { content: bytes, message: null };
}

interface UploadEnvelope {
  content?: string;
  content_base64?: string;
  message?: string;
}

/** Looked at first, so that no other JSON is parsed, which may be large. */
const ENVELOPE_START_PATTERN = /^\s{0,100}\{\s{0,100}"(content|content_base64|message)"\s{0,100}:/;
const ENVELOPE_START_BYTES = 400;
const ENVELOPE_KEYS = new Set(['content', 'content_base64', 'message']);
/** JSON that has more of anything is the file itself; parsing many names takes long. */
const ENVELOPE_LIMITS = { depth: 64, parts: 100_000, names: ENVELOPE_KEYS.size };

/** Undefined for JSON that is the file itself. @throws AppError 400, 413 */
function findEnvelope(bytes: Buffer): UploadEnvelope | undefined {
  if (!ENVELOPE_START_PATTERN.test(bytes.toString('latin1', 0, ENVELOPE_START_BYTES))) return undefined;
  if (bytes.length > JSON_BYTES_MAX) {
    throw new AppError('too_large', 'too_large', 'the JSON is larger than 1 MB; send larger files as raw bytes');
  }
  const { depth, parts, names: differing } = measureJsonSize(bytes, ENVELOPE_LIMITS);
  if (depth > ENVELOPE_LIMITS.depth || parts > ENVELOPE_LIMITS.parts || differing > ENVELOPE_LIMITS.names)
    return undefined;
  const body = parseEnvelope(bytes);
  const names = Object.keys(body);
  const isWrapper = names.every((name) => ENVELOPE_KEYS.has(name)) && ('content' in body || 'content_base64' in body);
  if (!isWrapper) return undefined;
  const { content, content_base64: base64, message } = body;
  const problems: FieldProblem[] = [];
  if ((content === undefined) === (base64 === undefined)) {
    problems.push({ path: 'content', message: 'send exactly one of content and content_base64' });
  }
  for (const [path, value] of Object.entries(body)) {
    if (typeof value !== 'string') problems.push({ path, message: 'must be text' });
  }
  if (typeof message === 'string' && (message.length > MESSAGE_CHARS_MAX || message.includes('\0'))) {
    problems.push({
      path: 'message',
      message: `must be at most ${MESSAGE_CHARS_MAX} characters long and must not contain NUL`,
    });
  }
  if (problems.length) throw invalid(problems);
  return body as UploadEnvelope;
}

function parseEnvelope(bytes: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (err) {
    throw new AppError('invalid', 'malformed_json', `the body is not valid JSON: ${(err as Error).message}`);
  }
}

function decodeContent({ content, content_base64: base64 }: UploadEnvelope): Buffer {
  if (content !== undefined) return Buffer.from(content);
  const bytes = Buffer.from(base64 as string, 'base64');
  if (bytes.toString('base64').replace(/(?<!=)=+$/, '') === (base64 as string).replace(/(?<!=)=+$/, '')) return bytes;
  throw invalid([{ path: 'content_base64', message: 'is not valid base64' }]);
}

/** The body of `POST .../upload`: files under their names, or the contents of a zip. @throws AppError 400 */
export async function readUploadedFiles(req: Request, { extract }: { extract: boolean }): Promise<UploadedFile[]> {
  const files = parseFormFiles(req);
  if (!files.length) throw invalid([{ path: 'files', message: 'send one or more files as form parts' }], 'bad_upload');
  if (!extract) return files;
  const [zip, another] = files;
  if (!zip || another) throw invalid([{ path: 'files', message: 'send exactly one zip to extract' }], 'bad_upload');
  return readArchive(zip.content, 'files', isJunkFile);
}

const parseFormFiles = (req: Request): UploadedFile[] =>
  ((req.files ?? []) as Express.Multer.File[]).map(({ originalname, buffer }) => ({
    path: originalname,
    content: buffer,
  }));

/** Files that archivers add on their own. */
const isJunkFile = (path: string): boolean =>
  isIgnored(path) || path.startsWith('__MACOSX/') || path.split('/').at(-1) === '.DS_Store';
