import { AppError } from '@gantry/errors';
import { type Operations, startEventStream } from '@gantry/http';
import type { ChangeHub } from './change-hub';

export const createChangeOperations = ({ changes }: { changes: ChangeHub }): Operations<'worker'> => ({
  streamChanges: ({ req, res, caller }) => {
    if (!req.accepts('text/event-stream')) {
      throw new AppError(
        'not_acceptable',
        'not_acceptable',
        'Accept: must allow text/event-stream; the response is an event stream',
      );
    }
    startEventStream(res);
    if (req.method === 'HEAD') return void res.end();
    res.flushHeaders();
    changes.watch(caller.workspaceId, res, req.get('Last-Event-ID'));
  },
});
