import { useState } from 'react';

/** Stores a flag across reloads, where the browser allows storage. @param key in the storage of this origin */
export function useStoredFlag(key: string): { isSet: boolean; toggle: () => void } {
  const [isSet, setFlag] = useState(() => readFlag(key));
  function toggle() {
    setFlag(!isSet);
    try {
      localStorage.setItem(key, String(!isSet));
    } catch {
      // Without storage it lasts until the next reload.
    }
  }
  return { isSet, toggle };
}

function readFlag(key: string): boolean {
  try {
    return localStorage.getItem(key) === 'true';
  } catch {
    return false;
  }
}
