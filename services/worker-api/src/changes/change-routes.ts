import { AppError, type Operations } from '@gantry/http';
import type { ChangeHub } from './change-hub';

export const changeOperations = ({ changes }: { changes: ChangeHub }): Operations<'worker'> => ({
  streamChanges: ({ req, res, caller }) => {
    if (!req.accepts('text/event-stream')) {
      throw new AppError(
        'not_acceptable',
        'not_acceptable',
        'Accept: this is a stream of events; send text/event-stream',
      );
    }
    res.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // nginx would otherwise collect a stream into blocks.
      'X-Accel-Buffering': 'no',
    });
    if (req.method === 'HEAD') return void res.end();
    res.flushHeaders();
    changes.watch(caller.workspaceId, res, req.get('Last-Event-ID'));
  },
});
