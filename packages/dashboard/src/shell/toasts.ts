import { useSyncExternalStore } from 'react';

export interface Toast {
  id: number;
  text: string;
  tone: 'info' | 'error';
  /** Until it is dismissed. */
  stays: boolean;
  /** Takes back what was done; the toast then goes. */
  undo?: () => void;
}

/** Long enough to read a line and to reach its button; pointing at a toast keeps it. */
const SHOWN_MS = 7_000;

let shown: readonly Toast[] = [];
let count = 0;
const listeners = new Set<() => void>();
const timers = new Map<number, ReturnType<typeof setTimeout>>();

function change(next: readonly Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** Says that something was done, in a corner and to screen readers, without taking the focus. */
export function toast(
  text: string,
  { tone = 'info', stays = false, undo }: Partial<Omit<Toast, 'id' | 'text'>> = {},
): void {
  const id = ++count;
  change([...shown, { id, text, tone, stays, undo }]);
  releaseToast(id);
}

/** Says what is wrong with something that was saved all the same. */
export function toastWarnings(name: string, warnings: readonly string[] = []): void {
  for (const warning of warnings) toast(`${name}: ${warning}`, { stays: true });
}

export function dismissToast(id: number): void {
  holdToast(id);
  change(shown.filter((one) => one.id !== id));
}

/** It stays until it is released. */
export function holdToast(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
}

export function releaseToast(id: number): void {
  holdToast(id);
  if (shown.find((one) => one.id === id)?.stays) return;
  timers.set(
    id,
    setTimeout(() => dismissToast(id), SHOWN_MS),
  );
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useToasts = (): readonly Toast[] => useSyncExternalStore(subscribe, () => shown);
