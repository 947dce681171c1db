import { Button, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useRef } from 'react';
import type { InputItem } from '../shell/api';
import { FormStack } from '../ui/form';
import { PlayIcon } from '../ui/icons';
import { Notice } from '../ui/notice';
import { toInputProblems } from './input-problems';
import styles from './test-form.module.css';
import { useInputFields } from './use-input-fields';

interface TestFormProps {
  items: InputItem[];
  initialValues: Record<string, unknown> | null;
  /** @throws ApiError: its field problems are shown at their fields */
  onTest: (inputs: Record<string, unknown>) => Promise<void>;
  /** A sentence below the button about what a test runs. */
  children: ReactNode;
}

/** Starts a test of the code in the editor beside it. */
export function TestForm({ items, initialValues, onTest, children }: TestFormProps) {
  const { fields, problem, show, read } = useInputFields(items, initialValues);
  const form = useRef<HTMLFormElement>(null);
  const start = useMutation({ mutationFn: onTest, onError: (error) => show(toInputProblems(error, items)) });
  function handleSubmit(event: FormEvent) {
    event.preventDefault();
    const { inputs, problems } = read();
    show(problems);
    if (problems.size === 0) start.mutate(inputs);
  }
  useWindowEvent(
    'keydown',
    (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      form.current?.requestSubmit();
    },
    // Before the editor, where it would begin a line.
    { capture: true },
  );
  return (
    <FormStack ref={form} gap="md" onSubmit={handleSubmit} noValidate>
      {fields}
      {problem !== undefined && (
        <Notice tone="error" title="Test not started">
          {problem}
        </Notice>
      )}
      <Button type="submit" leftSection={<PlayIcon />} loading={start.isPending} fullWidth>
        Test this draft
      </Button>
      <Text className={styles.note} fz="xs" c="dimmed">
        {children} <kbd>Ctrl</kbd> <kbd>Enter</kbd>
      </Text>
    </FormStack>
  );
}
