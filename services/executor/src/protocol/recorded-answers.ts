/** Replays recorded responses to the writes of a rehearsal. */
import { ANSWERS_MAX, type Job, type RecordedAnswer, recordedAnswer } from '@gantry/events';
import type { Redactor } from '@gantry/masking';
import { z } from 'zod';
import type { AnswerTo } from '../runners/runner';
import { getBytes } from '../transfer/object-transfer';
import { shownHost, shownTarget } from './request-report';

/** JSON needs at most six characters for one. */
const BYTES_MAX = 6 * ANSWERS_MAX.bytes + ANSWERS_MAX.count * 16_384;

async function recordsOf({ rehearsal }: Job): Promise<RecordedAnswer[]> {
  if (!rehearsal?.answersUrl) return rehearsal?.answers ?? [];
  return z.array(recordedAnswer).parse(JSON.parse((await getBytes(rehearsal.answersUrl, BYTES_MAX)).toString()));
}

/** Returns each record once, in order. Records were masked when stored, and so is the request that is compared. */
export async function answersFor(job: Job, redactor: Redactor): Promise<AnswerTo> {
  const left = new Map<string, RecordedAnswer[]>();
  for (const record of await recordsOf(job)) {
    const key = keyOf(record);
    left.set(key, [...(left.get(key) ?? []), record]);
  }
  return (asked) => {
    const host = shownHost(redactor, asked.host);
    const target = shownTarget(redactor, asked.target);
    return left.get(keyOf({ ...asked, host, target }))?.shift() ?? null;
  };
}

const keyOf = ({ method, scheme, host, port, target }: Parameters<AnswerTo>[0]) =>
  JSON.stringify([method, scheme, host, port, target]);
