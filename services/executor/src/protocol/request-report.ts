/** Reports a run's requests to the outside: masked, bounded, refusals also in its log. */
import { REQUESTS_MAX } from '@gantry/events';
import { printable, type RunLog } from '../masking/log-lines';
import type { Redactor } from '../masking/redact';
import type { NetworkRequest } from '../runners/runner';
import type { NewRunEvent } from './event-publisher';

/** As in the protocol. */
const CHARS_MAX = { host: 260, path: 300, message: 300 };

export function createRequestReport(options: {
  redactor: Redactor;
  runLog: Pick<RunLog, 'platform'>;
  emit(event: NewRunEvent): void;
}): (request: NetworkRequest) => void {
  const { redactor, runLog, emit } = options;
  const shown = (text: string, charsMax: number) => printable(redactor.text(text)).slice(0, charsMax);
  let count = 0;
  return (request) => {
    if (++count > REQUESTS_MAX) {
      if (count === REQUESTS_MAX + 1) {
        runLog.platform(`The run has made ${REQUESTS_MAX} requests: further ones are not recorded.`, 'warning');
      }
      return;
    }
    const { path, problem } = request;
    const host = shown(request.host, CHARS_MAX.host);
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
    });
  };
}
