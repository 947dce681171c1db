import { ApiError } from '@gantry/sdk';
import { Button, Group, Stack, Text } from '@mantine/core';
import { createContext, Fragment, type ReactNode, useCallback, useContext, useRef, useState } from 'react';
import type { Worker, WorkerChange } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { ErrorNotice, Notice } from '../../ui/notice';
import { useConfirmLeave } from '../../ui/use-confirm-leave';
import { useUpdateWorker } from '../../workers/use-update-worker';
import { mergeChanges } from './merge-changes';
import styles from './settings-form.module.css';

export type FieldProblem = ApiError['fields'][number];

/** A form with unsaved changes. */
interface ChangedForm {
  form: HTMLFormElement;
  readChanges: () => WorkerChange;
  /** Called when its changes are sent. */
  onSave?: (() => void) | undefined;
  /** Whether the form shows the validation error of this field inline. */
  isShownInline?: ((path: string) => boolean) | undefined;
}

interface SettingsEditorContext {
  /** @param changed undefined: the form has no unsaved changes */
  report: (title: string, changed: ChangedForm | undefined) => void;
  save: () => void;
  /** Validation errors of the last attempt to save. */
  problems: readonly FieldProblem[];
}

const SettingsContext = createContext<SettingsEditorContext | undefined>(undefined);

export function useSettingsEditor(): SettingsEditorContext {
  const settings = useContext(SettingsContext);
  if (!settings) throw new Error('a settings form needs a SettingsEditor around it');
  return settings;
}

/** Saves the changed forms of a page together, as one change of the worker. */
export function SettingsEditor({ worker, children }: { worker: Worker; children: ReactNode }) {
  const change = useUpdateWorker(worker.id);
  const changedForms = useRef(new Map<string, ChangedForm>());
  const [titles, setTitles] = useState<readonly string[]>([]);
  const [discardCount, setDiscardCount] = useState(0);

  const report = useCallback((title: string, changed: ChangedForm | undefined) => {
    if (changed) changedForms.current.set(title, changed);
    else changedForms.current.delete(title);
    setTitles((previous) =>
      previous.includes(title) === (changed !== undefined) ? previous : [...changedForms.current.keys()],
    );
  }, []);

  function save() {
    const forms = [...changedForms.current.values()];
    if (forms.length === 0 || !forms.every(({ form }) => form.reportValidity())) return;
    for (const { onSave } of forms) onSave?.();
    const parts = forms.map(({ readChanges }) => readChanges());
    const changes = mergeChanges(worker, parts);
    const previousValues = pickCurrentValues(worker, changes);
    const label = titles.length === 1 ? titles[0] : 'Settings';
    // The forms remount with the saved values, which would drop callbacks of mutate().
    change.mutateAsync(changes).then(
      () => toast(`${label} saved`, { undo: () => change.mutate(previousValues) }),
      () => {},
    );
  }

  function discard() {
    change.reset();
    setDiscardCount(discardCount + 1);
  }

  useConfirmLeave(titles.length > 0);

  const problems = change.error instanceof ApiError ? change.error.fields : [];
  const areAllShownInline =
    problems.length > 0 &&
    problems.every(({ path }) => [...changedForms.current.values()].some((one) => one.isShownInline?.(path)));
  return (
    <SettingsContext value={{ report, save, problems }}>
      {/* Remounts when another member saves, and drops unsaved input. */}
      <Fragment key={`${worker.id} ${worker.version} ${worker.updated_at} ${discardCount}`}>{children}</Fragment>
      {change.data?.warnings.map((warning) => (
        <Notice key={warning} tone="info">
          {warning}
        </Notice>
      ))}
      {(titles.length > 0 || change.error) && (
        <Stack component="section" gap="sm" className={styles.bar} aria-label="Unsaved changes">
          {areAllShownInline ? (
            <Notice tone="error" title="Changes not saved">
              Fix the {problems.length === 1 ? 'invalid field' : `${problems.length} invalid fields`} above, then save
              again.
            </Notice>
          ) : (
            <ErrorNotice title="Changes not saved" error={change.error} />
          )}
          <Group justify="space-between" gap="sm">
            <Text fz="sm">
              <strong>Unsaved changes:</strong> {titles.join(', ')}
            </Text>
            <Group gap="xs">
              <Button variant="default" onClick={discard}>
                Discard
              </Button>
              <Button loading={change.isPending} onClick={save}>
                Save
              </Button>
            </Group>
          </Group>
        </Stack>
      )}
    </SettingsContext>
  );
}

/** Returns the current values of the changed fields, for undo. */
function pickCurrentValues(worker: Worker, changes: WorkerChange): WorkerChange {
  const current: WorkerChange = worker;
  return Object.fromEntries(Object.keys(changes).map((name) => [name, current[name as keyof WorkerChange]]));
}
