import { useCallback } from 'react';
import type { PythonFile } from './python-assist';

const splitLines = (text: string): string[] => text.split('\n').filter(Boolean);

/** Loads Python completion with these names. The reference is stable while they and the file stay the same. */
export function useAssist(inputNames: string[], secretNames: string[], { path, getPyright }: PythonFile) {
  const [inputs, secrets] = [inputNames.join('\n'), secretNames.join('\n')];
  return useCallback(async () => {
    const { buildPythonAssist } = await import('./python-assist');
    return buildPythonAssist({ inputs: splitLines(inputs), secrets: splitLines(secrets) }, { path, getPyright });
  }, [inputs, secrets, path, getPyright]);
}
