import { useCallback } from 'react';

const linesOf = (text: string): string[] => text.split('\n').filter(Boolean);

/** Loads completion for Python that knows these names. The same function for as long as the names stay the same. */
export function useAssist(inputNames: string[], secretNames: string[]) {
  const [inputs, secrets] = [inputNames.join('\n'), secretNames.join('\n')];
  return useCallback(async () => {
    const { gantryAssist } = await import('./gantry-assist');
    return gantryAssist({ inputs: linesOf(inputs), secrets: linesOf(secrets) });
  }, [inputs, secrets]);
}
