import { createStore } from '../ui/store';

interface Toast {
  id: number;
  text: string;
  tone: 'info' | 'error';
  /** Until it is dismissed. */
  isPersistent: boolean;
  /** Undoes the action and dismisses the toast. */
  undo?: () => void;
}

/** Long enough to read a line and to reach its button; pointing at a toast keeps it. */
const TOAST_DURATION_MS = 7_000;

const toasts = createStore<readonly Toast[]>([]);
let count = 0;
const timers = new Map<number, ReturnType<typeof setTimeout>>();

/** Shows a message in a corner and to screen readers, without taking the focus. */
export function toast(
  text: string,
  { tone = 'info', isPersistent = false, undo }: Partial<Omit<Toast, 'id' | 'text'>> = {},
): void {
  const id = ++count;
  toasts.set([...toasts.get(), { id, text, tone, isPersistent, undo }]);
  resumeToast(id);
}

/** Shows warnings about a resource that was saved. */
export function toastWarnings(name: string, warnings: readonly string[] = []): void {
  for (const warning of warnings) toast(`${name}: ${warning}`, { isPersistent: true });
}

export function dismissToast(id: number): void {
  pauseToast(id);
  toasts.set(toasts.get().filter((one) => one.id !== id));
}

/** Keeps a toast until it is released. */
export function pauseToast(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
}

export function resumeToast(id: number): void {
  pauseToast(id);
  if (toasts.get().find((one) => one.id === id)?.isPersistent) return;
  timers.set(
    id,
    setTimeout(() => dismissToast(id), TOAST_DURATION_MS),
  );
}

export const useToasts = toasts.useValue;
