import { useLocalStorage } from '@mantine/hooks';

/** Stores a flag across reloads, where the browser allows storage. @param key in the storage of this origin */
export function useStoredFlag(key: string): { isSet: boolean; toggle: () => void } {
  const [isSet, setFlag] = useLocalStorage({ key, defaultValue: false, getInitialValueInEffect: false, sync: false });
  return { isSet, toggle: () => setFlag(!isSet) };
}
