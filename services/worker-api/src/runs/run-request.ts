/** A request to another host that the code of a run made, as it is shown. */
import { apiFields } from '@gantry/http';
import { attemptOf, type RunRequest } from '@gantry/run-engine';

export const requestToApi = ({ seq, at, data }: RunRequest) => ({
  ...{ seq, attempt: attemptOf(seq), at: at.toISOString() },
  ...apiFields(data, 'method', 'scheme', 'host', 'port', 'path', 'status'),
  ...apiFields(data, 'bytes_sent', 'bytes_received', 'duration_ms', 'credentials', 'problem'),
  ...(data.echoed !== undefined && { echoed: data.echoed }),
  ...(data.answer_recorded && { answer_recorded: true }),
});
