import { EXIT } from './errors';

type Handler = () => void;

/** Exit code of a shell for a program that SIGTERM has ended. */
const TERMINATED = 128 + 15;

const interruptHandlers: Handler[] = [];
const terminationHandlers: Handler[] = [];

/** Handles Ctrl-C: the command under way decides, and without one the program ends. */
export const interrupt = (): void => (interruptHandlers.at(-1) ?? (() => process.exit(EXIT.usage)))();

/** Handles SIGTERM: ends the program, unless the command has something to print that can't be obtained again. */
export const terminate = (): void => (terminationHandlers.at(-1) ?? (() => process.exit(TERMINATED)))();

/** @returns a function that ends the handling */
export const onInterrupt = (handler: Handler): (() => void) => push(interruptHandlers, handler);

/** @returns a function that ends the handling */
export const onTermination = (handler: Handler): (() => void) => push(terminationHandlers, handler);

function push(handlers: Handler[], handler: Handler): () => void {
  handlers.push(handler);
  return () => void handlers.splice(handlers.indexOf(handler), 1);
}
