/** Replays recorded responses to the writes of a rehearsal. */
import { type Job, RESPONSES_MAX, type ReplayableResponse, replayableResponse } from '@gantry/events';
import type { Redactor } from '@gantry/masking';
import { z } from 'zod';
import type { FindRecordedResponse } from '../runners/runner';
import { getBytes } from '../transfer/object-transfer';
import { maskHost, maskTarget } from './request-report';

/** JSON needs at most six characters for one. */
const BYTES_MAX = 6 * RESPONSES_MAX.bytes + RESPONSES_MAX.count * 16_384;

async function loadRecords({ rehearsal }: Job): Promise<ReplayableResponse[]> {
  if (!rehearsal?.answersUrl) return rehearsal?.answers ?? [];
  return z.array(replayableResponse).parse(JSON.parse((await getBytes(rehearsal.answersUrl, BYTES_MAX)).toString()));
}

/** Returns each record once, in order. Records were masked when stored, and so is the request that is compared. */
export async function createRecordedResponder(job: Job, redactor: Redactor): Promise<FindRecordedResponse> {
  const remaining = new Map<string, ReplayableResponse[]>();
  for (const record of await loadRecords(job)) {
    const key = toKey(record);
    remaining.set(key, [...(remaining.get(key) ?? []), record]);
  }
  return (request) => {
    const host = maskHost(redactor, request.host);
    const target = maskTarget(redactor, request.target);
    return remaining.get(toKey({ ...request, host, target }))?.shift() ?? null;
  };
}

const toKey = ({ method, scheme, host, port, target }: Parameters<FindRecordedResponse>[0]) =>
  JSON.stringify([method, scheme, host, port, target]);
