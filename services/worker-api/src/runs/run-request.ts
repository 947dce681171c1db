/** A request to another host that the code of a run made, as it is shown. */
import { toApiFields } from '@gantry/http';
import { getAttempt, type RunRequest } from '@gantry/run-engine';

export const requestToApi = ({ seq, at, data }: RunRequest) => ({
  seq,
  attempt: getAttempt(seq),
  at: at.toISOString(),
  ...toApiFields(data, 'method', 'scheme', 'host', 'port', 'path', 'status'),
  ...toApiFields(data, 'bytes_sent', 'bytes_received', 'duration_ms', 'credentials', 'problem'),
  ...(data.echoed !== undefined && { echoed: data.echoed }),
  ...(data.answer_recorded && { answer_recorded: true }),
});
