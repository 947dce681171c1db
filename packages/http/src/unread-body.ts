/**
 * An answer may come before the body was read: to a sender who may not send it, or sends too much. The connection must
 * neither stay open for a sender that never ends, nor break before the sender could read the answer.
 */
import type { Request, Response } from 'express';

/** This much of an unread body is read and discarded, so that the connection can be used again. */
const DISCARDED_BYTES_MAX = 64 * 1024;
/** A sender may still send for this long after the answer; then the connection ends. */
const GRACE_MS = 5_000;

/** Call it before the head of the answer is written. */
export function leaveBodyUnread(req: Request, res: Response): void {
  if (req.complete || res.headersSent) return;
  // Not more than is taken anyway: this connection goes on. Node discards what nobody reads.
  if (!(Number(req.headers['content-length']) <= DISCARDED_BYTES_MAX)) {
    res.set('Connection', 'close');
    closeWhenRead(req);
  }
  res.once('finish', () => {
    if (req.complete) return;
    req.resume();
    const timer = setTimeout(() => req.destroy(), GRACE_MS).unref();
    req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  });
}

/**
 * Node destroys the socket once the last answer is written. With a body still coming in that resets the connection, and a proxy that is
 * sending one loses the answer. So only our side ends at once; the other when the body has, or after the grace.
 */
function closeWhenRead(req: Request): void {
  const { socket } = req;
  socket.destroySoon = () => {
    socket.end();
    if (req.complete) socket.destroy();
    else req.once('close', () => socket.destroy());
  };
}
