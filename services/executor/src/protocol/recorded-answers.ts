/** The answers that a rehearsal gets in place of writing. */
import { ANSWERS_MAX, type Job, type RecordedAnswer, recordedAnswer } from '@gantry/events';
import type { Redactor } from '@gantry/masking';
import { z } from 'zod';
import type { AnswerTo } from '../runners/runner';
import { getBytes } from '../transfer/object-transfer';
import { shownHost, shownTarget } from './request-report';

/** Six characters for one are the most that JSON takes. */
const BYTES_MAX = 6 * ANSWERS_MAX.bytes + ANSWERS_MAX.count * 16_384;

async function recordsOf({ rehearsal }: Job): Promise<RecordedAnswer[]> {
  if (!rehearsal?.answersUrl) return rehearsal?.answers ?? [];
  return z.array(recordedAnswer).parse(JSON.parse((await getBytes(rehearsal.answersUrl, BYTES_MAX)).toString()));
}

/** Each record answers once, in the order of the record. It was masked when it was kept, and so is what is compared with it. */
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
