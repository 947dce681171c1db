import { Button, Stack, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { type FormEvent, useRef, useState } from 'react';
import type { InputItem } from '../shell/api';
import { FormStack } from '../ui/form';
import { PlayIcon } from '../ui/icons';
import { Notice } from '../ui/notice';
import styles from './input-form.module.css';
import { toInputProblems } from './input-problems';
import { useInputFields } from './use-input-fields';

interface InputFormProps {
  items: InputItem[];
  /** Values of an earlier run to begin with, instead of the manifest's defaults. */
  initialValues: Record<string, unknown> | null;
  canRun: boolean;
  /** @throws ApiError: its field problems are shown at their fields */
  onRun: (inputs: Record<string, unknown>) => Promise<void>;
}

/**
 * Key of a form: it starts anew when other inputs are declared or values are filled in, and keeps what was entered when
 * merely another version of the code arrives.
 */
export const buildInputFormKey = (items: unknown[], fillCount = 0): string => `${fillCount} ${JSON.stringify(items)}`;

export function InputForm({ items, initialValues, canRun, onRun }: InputFormProps) {
  const { fields, problem, show, read } = useInputFields(items, initialValues);
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useRunShortcut(form);

  async function handleSubmit(event: FormEvent) {
    event.preventDefault();
    if (busy || !canRun) return;
    const { inputs, problems } = read();
    show(problems);
    if (problems.size) return;
    setBusy(true);
    try {
      await onRun(inputs);
    } catch (error) {
      show(toInputProblems(error, items));
    } finally {
      setBusy(false);
    }
  }

  return (
    <FormStack ref={form} gap="md" onSubmit={handleSubmit} noValidate>
      {items.length === 0 && <Text c="dimmed">No inputs needed.</Text>}
      {fields}
      {problem !== undefined && (
        <Notice tone="error" title="Run not started">
          {problem}
        </Notice>
      )}
      <Stack gap="xs" mt="xs">
        <Button type="submit" size="md" disabled={!canRun} loading={busy} leftSection={<PlayIcon />} fullWidth>
          Run
        </Button>
        <Text className={styles.shortcut} fz="xs" c="dimmed" ta="center">
          Press <kbd>Ctrl</kbd> <kbd>Enter</kbd> to run from anywhere on this page
        </Text>
      </Stack>
    </FormStack>
  );
}

/** Submits on Ctrl+Enter, except while a dialog is open. */
function useRunShortcut(form: { current: HTMLFormElement | null }) {
  useWindowEvent('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    if (document.querySelector('[role="dialog"]')) return;
    event.preventDefault();
    form.current?.requestSubmit();
  });
}
