import { type PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

export interface NewFile {
  path: string;
  content: Buffer;
}

export interface NewStream {
  path: string;
  /** Called when all files before it are written. */
  open(): Promise<Readable>;
  /** Default: true. */
  compress?: boolean;
}

/** Local time, since a zip's DOS field holds local time. */
const FIXED_DATE = new Date(2020, 0, 1);
const MODE = 0o100644;
/** yazl takes the checksum of a buffer in one turn of the event loop. */
const IN_MEMORY_BYTES_MAX = 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Deterministic: the same files in the same order give the same bytes. */
export function writeZip(files: NewFile[], modifiedAt = FIXED_DATE): Promise<Buffer> {
  return buffer(buildZip(files, { mtime: modifiedAt, forceDosTimestamp: true }));
}

/** One file is open at a time. A read error, or a reader that disconnects, ends the zip and closes that file. */
export function streamZip(files: (NewFile | NewStream)[], modifiedAt: Date): Readable {
  return buildZip(files, { mtime: modifiedAt });
}

function buildZip(files: (NewFile | NewStream)[], entryOptions: { mtime: Date; forceDosTimestamp?: true }): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as PassThrough;
  let current: Readable | undefined;
  const fail = (err: Error) => output.destroy(err);
  output.once('close', () => current?.destroy());
  for (const file of files) {
    const options = { ...entryOptions, mode: MODE };
    if ('content' in file && file.content.length <= IN_MEMORY_BYTES_MAX) {
      zip.addBuffer(file.content, file.path, options);
      continue;
    }
    const { path, open, compress = true } = 'content' in file ? toStream(file) : file;
    zip.addReadStreamLazy(path, { ...options, compress }, (ready) => {
      if (output.destroyed) return;
      open().then((source) => {
        current = source.on('error', fail);
        if (output.destroyed) source.destroy();
        else ready(null, source);
      }, fail);
    });
  }
  zip.end();
  return output;
}

const toStream = ({ path, content }: NewFile): NewStream => ({
  path,
  open: async () => Readable.from(splitContent(content)),
});

function* splitContent(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += CHUNK_BYTES) yield content.subarray(at, at + CHUNK_BYTES);
}
