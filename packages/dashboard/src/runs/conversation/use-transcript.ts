import { useQuery } from '@tanstack/react-query';
import type { WorkerRun } from '../../shell/api';
import { downloadArtifact } from '../download-artifact';
import { parseTranscript, type RunMessage } from './run-messages';

export const TRANSCRIPT_NAME = 'transcript.json';
const BYTES_MAX = 20_000_000;

/** Loads the messages of a finished run from its transcript; null where there is none. */
export function useTranscript(
  run: WorkerRun,
  isRunFinished: boolean,
): { said: RunMessage[] | null; isReading: boolean } {
  const file = isRunFinished
    ? run.artifacts.find(({ name, size }) => name === TRANSCRIPT_NAME && size <= BYTES_MAX)
    : undefined;
  const { data, isPending } = useQuery({
    queryKey: ['artifact', file?.id, 'transcript'],
    enabled: file !== undefined,
    queryFn: async () => parseTranscript(await (await downloadArtifact(run.id, file?.id ?? '')).text()),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return { said: data ?? null, isReading: file !== undefined && isPending };
}
