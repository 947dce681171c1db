import { type Job, newId } from '@gantry/events';
import type { Redactor } from '@gantry/masking';
import { replaceNul } from '../masking/log-lines';
import type { ArtifactSink, RunHooks } from '../runners/runner';
import { startUpload } from '../transfer/object-transfer';
import type { NewRunEvent } from './event-publisher';
import type { RunUploads } from './run-output';

/** Limit for all artifacts of a run, as a multiple of the limit for one. */
const TOTAL_FACTOR = 4;
const COUNT_MAX = 200;

/** Streams a run's artifacts to the object store without storing anything here. The bytes are not masked. */
export function createArtifactUploader(
  job: Job,
  uploads: RunUploads,
  redactor: Redactor,
  emit: (event: NewRunEvent) => void,
): RunHooks['openArtifact'] {
  let total = 0;
  let count = 0;
  const { artifactBytes } = job.limits;

  return async ({ name: rawName, contentType: rawType, size }) => {
    const name = replaceNul(redactor.text(rawName)).replaceAll('/', '_') || 'artifact';
    const contentType = redactor.text(rawType);
    if (size > artifactBytes) return { refused: `it is ${size} bytes; the limit for one artifact is ${artifactBytes}` };
    if (total + size > TOTAL_FACTOR * artifactBytes) {
      return { refused: `the artifacts of a run are limited to ${TOTAL_FACTOR * artifactBytes} bytes in total` };
    }
    if (++count > COUNT_MAX) return { refused: `a run can have at most ${COUNT_MAX} artifacts` };
    total += size;
    const type = /^[\w.+-]+\/[\w.+-]+(;[ -~]*)?$/.test(contentType) ? contentType : 'application/octet-stream';
    try {
      const location = await uploads.place(job, { purpose: 'artifact', name, contentType: type, size });
      return 'refused' in location ? location : await openSink({ name, type, size, ...location }, emit);
    } catch (err) {
      return { refused: `no upload location was available: ${(err as Error).message}` };
    }
  };
}

async function openSink(
  { name, type, size, key, url }: { name: string; type: string; size: number; key: string; url: string },
  emit: (event: NewRunEvent) => void,
): Promise<ArtifactSink> {
  const upload = await startUpload(url, type, size);
  return {
    write: upload.write,
    abort: upload.abort,
    async end() {
      try {
        await upload.end();
      } catch (err) {
        return { refused: (err as Error).message };
      }
      const artifactId = newId('art_');
      emit({ type: 'artifact', artifactId, name, contentType: type, size, sha256: upload.digest(), key });
      return { artifactId };
    },
  };
}
