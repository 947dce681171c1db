import { Button } from '@mantine/core';
import { useId, useRef } from 'react';
import { toast } from '../../shell/toasts';

/** Above the service's limit, so that the service rejects a file that is slightly too large. */
const BYTES_MAX = 1_000_000;

/** Loads a local file into the editor. */
export function OpenFileButton({ onText }: { onText: (text: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const id = useId();

  async function readFile(file: File | undefined) {
    if (!file) return;
    if (file.size > BYTES_MAX) return toast(`${file.name} is too large for a skill`, { tone: 'error' });
    onText(await file.text());
  }

  return (
    <>
      <label htmlFor={id} className="visually-hidden">
        Open file
      </label>
      <input
        ref={field}
        id={id}
        type="file"
        accept=".md,.markdown,.txt,text/markdown,text/plain"
        hidden
        onChange={({ currentTarget }) => {
          void readFile(currentTarget.files?.[0]);
          // The same file can be opened again.
          currentTarget.value = '';
        }}
      />
      <Button size="compact-sm" variant="default" onClick={() => field.current?.click()}>
        Open file
      </Button>
    </>
  );
}
