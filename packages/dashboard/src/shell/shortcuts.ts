/** Keyboard shortcuts: pages and the frame register them, one listener handles them, and the help lists them. */
import { useEffect, useRef } from 'react';
import { createStore } from '../ui/store';

interface Shortcut {
  /** One key as `KeyboardEvent.key` has it, or two that follow each other: "j", "?", "g w". */
  keys: string;
  description: string;
  run: () => void;
}

interface ShortcutGroup {
  title: string;
  shortcuts: Shortcut[];
}

/** The second key of two has to follow within this time. */
const SECOND_KEY_MS = 3_000;

const groups = createStore<readonly ShortcutGroup[]>([]);
let firstKey: { key: string; at: number } | null = null;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest('input, textarea, select, [role="textbox"]') !== null);

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
  const sequence = firstKey && Date.now() - firstKey.at < SECOND_KEY_MS ? `${firstKey.key} ${event.key}` : event.key;
  firstKey = null;
  // The page's own keys win over the frame's.
  const all = groups
    .get()
    .flatMap(({ shortcuts }) => shortcuts)
    .reverse();
  const found = all.find(({ keys }) => keys === sequence) ?? all.find(({ keys }) => keys === event.key);
  if (found) {
    event.preventDefault();
    found.run();
  } else if (all.some(({ keys }) => keys.startsWith(`${event.key} `))) {
    firstKey = { key: event.key, at: Date.now() };
  }
}

/** Registers shortcuts while the caller is mounted. Ignored while the user types or a dialog is open. */
export function useShortcuts(title: string, shortcuts: Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const names = shortcuts.map(({ keys, description }) => `${keys}\n${description}`).join('\n\n');
  useEffect(() => {
    const group: ShortcutGroup = {
      title,
      shortcuts: names.split('\n\n').flatMap((name) => {
        const [keys = '', description = ''] = name.split('\n');
        return name ? [{ keys, description, run: () => latest.current.find((one) => one.keys === keys)?.run() }] : [];
      }),
    };
    if (groups.get().length === 0) document.addEventListener('keydown', onKeyDown);
    groups.set([...groups.get(), group]);
    return () => {
      groups.set(groups.get().filter((one) => one !== group));
      if (groups.get().length === 0) document.removeEventListener('keydown', onKeyDown);
    };
  }, [title, names]);
}

export const useShortcutGroups = groups.useValue;
