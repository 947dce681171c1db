/**
 * Handles responses before the body is read, such as to an unauthorized or too large request. The connection must
 * neither stay open for a client that never ends its body, nor break before the client has read the response.
 */
import type { Request, Response } from 'express';

/** This much of an unread body is read and discarded, so that the connection can be used again. */
const DISCARDED_BYTES_MAX = 64 * 1024;
/** A client may continue to send for this long after the response; then the connection is closed. */
const GRACE_MS = 5_000;

/** Must be called before the response head is written. */
export function discardBody(req: Request, res: Response): void {
  if (req.complete || res.headersSent) return;
  // A small body keeps the connection open: Node discards it.
  if (!(Number(req.headers['content-length']) <= DISCARDED_BYTES_MAX)) {
    res.set('Connection', 'close');
    closeSocketAfterBody(req);
  }
  res.once('finish', () => {
    if (req.complete) return;
    req.resume();
    const timer = setTimeout(() => req.destroy(), GRACE_MS).unref();
    req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  });
}

/**
 * Node destroys the socket once the last response is written. If a body is still arriving, that resets the connection,
 * and a proxy that is sending it loses the response. So only our side ends at once; the other with the body, or after
 * GRACE_MS.
 */
function closeSocketAfterBody(req: Request): void {
  const { socket } = req;
  socket.destroySoon = () => {
    socket.end();
    if (req.complete) socket.destroy();
    else req.once('close', () => socket.destroy());
  };
}
