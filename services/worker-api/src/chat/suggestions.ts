import type { ApiClient } from '@gantry/http';

const SUGGESTIONS_MAX = 4;
const WORKERS_MAX = 100;

interface SuggestedWorker {
  /** A name may say anything, and a suggestion is sent as the person's own words. */
  id: string;
  health: string;
}

/** Lists suggestions for a chat. Resources that cannot be read suggest nothing. */
export async function listSuggestions(client: ApiClient, signal: AbortSignal): Promise<string[]> {
  const fetchOrDefault = async <T>(path: string, defaultValue: T): Promise<T> => {
    const { status, body } = await client({ surface: 'worker', method: 'GET', path, signal });
    return status === 200 ? (body as T) : defaultValue;
  };
  const [workers, { pending }] = await Promise.all([
    fetchOrDefault<SuggestedWorker[]>(`/api/workers?limit=${WORKERS_MAX}`, []),
    fetchOrDefault('/api/approvals/count', { pending: 0 }),
  ]);
  const [failing] = workers.filter(({ health }) => health === 'needs_attention');
  const [incomplete] = workers.filter(({ health }) => health === 'missing_secret');
  return [
    ...(failing ? [`Why is ${failing.id} failing, and how can it be repaired?`] : []),
    ...(incomplete ? [`What does ${incomplete.id} need before it can run?`] : []),
    ...(pending > 0 ? ['What is waiting for a decision?'] : []),
    ...(workers.length ? ['What ran today, what failed, and what did it cost?'] : []),
    'Create a worker that counts the words in a text, and run it on a sentence.',
    'Create a worker that checks every morning whether our site is up.',
  ].slice(0, SUGGESTIONS_MAX);
}
