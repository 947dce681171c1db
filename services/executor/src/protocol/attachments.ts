import { isModelFile, type Job, MODEL_FILE_BYTES_MAX } from '@gantry/events';
import type { RunHooks } from '../runners/runner';
import { startUpload } from '../transfer/object-transfer';
import type { RunUploads } from './run-output';

/** Limit for an attempt. */
const COUNT_MAX = 500;
const DIGEST = /^[0-9a-f]{64}$/;

/** Streams files for model requests to the object store. They are identified by their digest, and are not artifacts. */
export function createAttachmentUploader(job: Job, uploads: RunUploads): NonNullable<RunHooks['openAttachment']> {
  let count = 0;
  return async ({ sha256, contentType, size }) => {
    if (!DIGEST.test(sha256) || !isModelFile(contentType) || size > MODEL_FILE_BYTES_MAX) {
      throw new Error('the file can’t be used in a model request');
    }
    if (++count > COUNT_MAX) return { refused: `a run can send at most ${COUNT_MAX} files to models` };
    try {
      const location = await uploads.attach(job, { name: sha256, contentType, size });
      if (!('url' in location)) return location;
      const upload = await startUpload(location.url, contentType, size);
      return {
        write: upload.write,
        abort: upload.abort,
        async end() {
          if (upload.digest() !== sha256) {
            upload.abort();
            return { refused: 'its content does not match the announced digest' };
          }
          try {
            await upload.end();
            return { kept: true };
          } catch (err) {
            return { refused: (err as Error).message };
          }
        },
      };
    } catch (err) {
      return { refused: `no upload location was available: ${(err as Error).message}` };
    }
  };
}
