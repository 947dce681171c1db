/** Reports a run's network requests: masked, limited, refusals also in its log. */
import { REQUESTS_MAX, RESPONSES_MAX, type RecordedResponse, TARGET_CHARS_MAX } from '@gantry/events';
import type { Redactor } from '@gantry/masking';
import { type RunLog, replaceNul } from '../masking/log-lines';
import type { NetworkRequest, RawResponse } from '../runners/runner';
import type { NewRunEvent } from './event-publisher';

/** The protocol's limits. */
const CHARS_MAX = { host: 260, path: 300, message: 300, contentType: 255 };

export const maskHost = (redactor: Redactor, host: string): string =>
  replaceNul(redactor.text(host)).slice(0, CHARS_MAX.host);

export const maskTarget = (redactor: Redactor, target: string): string => replaceNul(redactor.text(target));

/** Masks a body, which never makes it longer: the mask is shorter than any masked value. */
function maskBody(redactor: Redactor, body: Buffer): Pick<RecordedResponse, 'body' | 'encoding'> {
  const stream = redactor.stream();
  const masked = Buffer.concat([stream.push(body), stream.end()]);
  const text = masked.toString();
  const isText = !text.includes('\0') && Buffer.from(text).equals(masked);
  return isText ? { body: text, encoding: 'text' } : { body: masked.toString('base64'), encoding: 'base64' };
}

export function createRequestReport(options: {
  redactor: Redactor;
  runLog: Pick<RunLog, 'platform'>;
  emit(event: NewRunEvent): void;
}): (request: NetworkRequest) => void {
  const { redactor, runLog, emit } = options;
  const maskText = (text: string, charsMax: number) => replaceNul(redactor.text(text)).slice(0, charsMax);
  const answersLeft = { ...RESPONSES_MAX };
  let count = 0;

  /** Returns null beyond the limits, or if the target is too long to be compared. */
  function toRecordedResponse({ target, contentType, location, body }: RawResponse): RecordedResponse | null {
    const maskedTarget = maskTarget(redactor, target);
    if (maskedTarget.length > TARGET_CHARS_MAX || answersLeft.count === 0 || answersLeft.bytes < body.length)
      return null;
    answersLeft.count--;
    answersLeft.bytes -= body.length;
    const type = contentType === null ? null : maskText(contentType, CHARS_MAX.contentType);
    const maskedLocation = location === undefined ? undefined : maskText(location, TARGET_CHARS_MAX);
    return {
      target: maskedTarget,
      contentType: type,
      ...(maskedLocation !== undefined && { location: maskedLocation }),
      ...maskBody(redactor, body),
    };
  }

  return ({ answer: raw, ...request }) => {
    if (++count > REQUESTS_MAX) {
      if (count === REQUESTS_MAX + 1) {
        runLog.platform(`The run has made ${REQUESTS_MAX} requests: further requests are not recorded.`, 'warning');
      }
      return;
    }
    const { path, problem } = request;
    const host = maskHost(redactor, request.host);
    const answer = raw && toRecordedResponse(raw);
    if (problem?.kind === 'refused') {
      runLog.platform(
        `Connection to ${host}:${request.port} refused: ${maskText(problem.message, CHARS_MAX.message)}.`,
        'warning',
      );
    }
    emit({
      type: 'request',
      ...request,
      host,
      path: path === null ? null : maskText(path, CHARS_MAX.path),
      ...(problem && { problem: { ...problem, message: maskText(problem.message, CHARS_MAX.message) } }),
      ...(answer && { answer }),
    });
  };
}
