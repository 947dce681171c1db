/**
 * Hands over what sockets have read a random time later, so that data of several connections arrives in orders that an
 * idle machine never shows. Loaded by `npm run test:soak -- --delays`.
 */
const net = require('node:net');
const { Readable } = require('node:stream');

const { push } = Readable.prototype;
/** That of Node.js: tests replace theirs. */
const { setTimeout } = globalThis;
const DELAYED_SHARE = 0.3;
/** Mostly about as long as a process waits for a processor, and sometimes as long as for one on a very busy machine. */
const getDelayMs = () => Math.random() * (Math.random() < 0.1 ? 120 : 6);

/** By socket, what it has read and not handed over. */
const waiting = new WeakMap();

net.Socket.prototype.push = function delayedPush(...read) {
  const reads = waiting.get(this);
  if (!reads && Math.random() > DELAYED_SHARE) return push.apply(this, read);
  if (reads) reads.push(read);
  else {
    waiting.set(this, [read]);
    setTimeout(handOver, getDelayMs(), this);
  }
  // The socket reads on once this has been taken: what is held stays little.
  return false;
};

function handOver(socket) {
  const reads = waiting.get(socket);
  waiting.delete(socket);
  for (const read of reads) {
    if (socket.destroyed) return;
    push.apply(socket, read);
    if (read[0] === null) socket.read(0);
  }
}
