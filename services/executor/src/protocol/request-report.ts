/** Reports a run's network requests: masked, limited, refusals also in its log. */
import { ANSWERS_MAX, type KeptAnswer, REQUESTS_MAX, TARGET_CHARS_MAX } from '@gantry/events';
import type { Redactor } from '@gantry/masking';
import { printable, type RunLog } from '../masking/log-lines';
import type { NetworkRequest, RawAnswer } from '../runners/runner';
import type { NewRunEvent } from './event-publisher';

/** The protocol's limits. */
const CHARS_MAX = { host: 260, path: 300, message: 300, contentType: 255 };

export const shownHost = (redactor: Redactor, host: string): string =>
  printable(redactor.text(host)).slice(0, CHARS_MAX.host);

export const shownTarget = (redactor: Redactor, target: string): string => printable(redactor.text(target));

/** Masks a body, which never makes it longer: the mask is shorter than any masked value. */
function maskedBody(redactor: Redactor, body: Buffer): Pick<KeptAnswer, 'body' | 'encoding'> {
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
  const shown = (text: string, charsMax: number) => printable(redactor.text(text)).slice(0, charsMax);
  const answersLeft = { ...ANSWERS_MAX };
  let count = 0;

  /** Returns null beyond the limits, or if the target is too long to be compared. */
  function kept({ target, contentType, location, body }: RawAnswer): KeptAnswer | null {
    const shownAs = shownTarget(redactor, target);
    if (shownAs.length > TARGET_CHARS_MAX || answersLeft.count === 0 || answersLeft.bytes < body.length) return null;
    answersLeft.count--;
    answersLeft.bytes -= body.length;
    const type = contentType === null ? null : shown(contentType, CHARS_MAX.contentType);
    const where = location === undefined ? undefined : shown(location, TARGET_CHARS_MAX);
    return {
      ...{ target: shownAs, contentType: type, ...(where !== undefined && { location: where }) },
      ...maskedBody(redactor, body),
    };
  }

  return ({ answer: raw, ...request }) => {
    if (++count > REQUESTS_MAX) {
      if (count === REQUESTS_MAX + 1) {
        runLog.platform(`The run has made ${REQUESTS_MAX} requests: further ones are not recorded.`, 'warning');
      }
      return;
    }
    const { path, problem } = request;
    const host = shownHost(redactor, request.host);
    const answer = raw && kept(raw);
    if (problem?.kind === 'refused') {
      runLog.platform(
        `Connection to ${host}:${request.port} refused: ${shown(problem.message, CHARS_MAX.message)}.`,
        'warning',
      );
    }
    emit({
      type: 'request',
      ...request,
      host,
      path: path === null ? null : shown(path, CHARS_MAX.path),
      ...(problem && { problem: { ...problem, message: shown(problem.message, CHARS_MAX.message) } }),
      ...(answer && { answer }),
    });
  };
}
