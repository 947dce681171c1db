import { useState } from 'react';

const KEY = 'gantry-narrow-navigation';

/** Remembered over reloads, where the browser allows storage. */
export function useNarrow(): { isNarrow: boolean; toggle: () => void } {
  const [isNarrow, setNarrow] = useState(read);
  function toggle() {
    setNarrow(!isNarrow);
    try {
      localStorage.setItem(KEY, String(!isNarrow));
    } catch {
      // Then it lasts until the page is loaded again.
    }
  }
  return { isNarrow, toggle };
}

function read(): boolean {
  try {
    return localStorage.getItem(KEY) === 'true';
  } catch {
    return false;
  }
}
