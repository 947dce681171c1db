import { useSyncExternalStore } from 'react';

export interface Toast {
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

let toasts: readonly Toast[] = [];
let count = 0;
const listeners = new Set<() => void>();
const timers = new Map<number, ReturnType<typeof setTimeout>>();

function setToasts(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Shows a message in a corner and to screen readers, without taking the focus. */
export function toast(
  text: string,
  { tone = 'info', isPersistent = false, undo }: Partial<Omit<Toast, 'id' | 'text'>> = {},
): void {
  const id = ++count;
  setToasts([...toasts, { id, text, tone, isPersistent, undo }]);
  resumeToast(id);
}

/** Shows warnings about a resource that was saved. */
export function toastWarnings(name: string, warnings: readonly string[] = []): void {
  for (const warning of warnings) toast(`${name}: ${warning}`, { isPersistent: true });
}

export function dismissToast(id: number): void {
  pauseToast(id);
  setToasts(toasts.filter((one) => one.id !== id));
}

/** Keeps a toast until it is released. */
export function pauseToast(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
}

export function resumeToast(id: number): void {
  pauseToast(id);
  if (toasts.find((one) => one.id === id)?.isPersistent) return;
  timers.set(
    id,
    setTimeout(() => dismissToast(id), TOAST_DURATION_MS),
  );
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useToasts = (): readonly Toast[] => useSyncExternalStore(subscribe, () => toasts);
