import { EXIT } from './errors';

type Handler = () => void;

const handlers: Handler[] = [];

/** Handles Ctrl-C: the command under way decides, and without one the program ends. */
export function interrupt(): void {
  const handler = handlers.at(-1);
  if (handler) handler();
  else process.exit(EXIT.usage);
}

/** @returns a function that ends the handling */
export function onInterrupt(handler: Handler): () => void {
  handlers.push(handler);
  return () => void handlers.splice(handlers.indexOf(handler), 1);
}
