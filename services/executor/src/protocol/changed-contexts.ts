import { createHash } from 'node:crypto';
import type { Job } from '@gantry/events';
import type { RunHooks } from '../runners/runner';
import { putBytes } from '../transfer/object-transfer';
import { checkZip } from '../untrusted/unpack-zip';
import type { NewRunEvent } from './event-publisher';
import type { RunUploads } from './run-output';

const CONTENT_TYPE = 'application/zip';

/**
 * Receives the writeable contexts that a run has changed, each once and in full. A zip is held in memory until it is
 * checked: a stored one must unpack in the next run. It may be as large as an artifact.
 */
export function createContextUploader(
  job: Job,
  uploads: RunUploads,
  emit: (event: NewRunEvent) => void,
): NonNullable<RunHooks['openContext']> {
  const expected = new Map((job.contexts ?? []).flatMap((each) => (each.writeable ? [[each.name, each]] : [])));

  return ({ name, size }) => {
    const context = expected.get(name);
    if (!context) throw new Error(`the code changed the context ${JSON.stringify(name)}, which this run cannot change`);
    expected.delete(name);
    const { artifactBytes } = job.limits;
    if (size > artifactBytes)
      return { refused: `its files are ${size} bytes when zipped; the limit is ${artifactBytes}` };
    const pieces: Buffer[] = [];
    return {
      write: (piece) => void pieces.push(Buffer.from(piece)),
      abort: () => void pieces.splice(0),
      async end() {
        const zip = Buffer.concat(pieces);
        try {
          await checkZip(zip);
          const location = await uploads.place(job, { purpose: 'context', name, contentType: CONTENT_TYPE, size });
          if ('refused' in location) return location;
          await putBytes(location.url, CONTENT_TYPE, zip);
          const sha256 = createHash('sha256').update(zip).digest('hex');
          emit({ type: 'context', name, from: context.digest, size, sha256, key: location.key });
          return { kept: true };
        } catch (err) {
          return { refused: (err as Error).message };
        }
      },
    };
  };
}
