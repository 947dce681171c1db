import { ApiError } from '@gantry/sdk';
import { Button } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import type { Worker, WorkerChange } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { FormStack } from '../../ui/form';
import { getText } from '../../ui/form-text';
import { Failure, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { useWorkerChange } from '../../workers/use-change-worker';
import styles from './settings-form.module.css';

interface SettingsFormProps {
  worker: Worker;
  title: string;
  /** A sentence about all of its fields. */
  about?: string;
  parseForm: (formData: FormData) => WorkerChange;
  /** Whether the children show the validation error of this field inline. */
  isShownInline?: (path: string) => boolean;
  children: ReactNode | ((problems: readonly FieldProblem[]) => ReactNode);
}

export type FieldProblem = ApiError['fields'][number];

/** Edits one part of a worker's settings, which is saved separately; read-only without the permission. */
export function SettingsForm({ worker, title, about, parseForm, isShownInline, children }: SettingsFormProps) {
  const isEditable = canEditWorker(worker);
  const change = useWorkerChange(worker.id);
  const problems = change.error instanceof ApiError ? change.error.fields : [];
  const areAllShownInline = problems.length > 0 && problems.every(({ path }) => isShownInline?.(path));
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const changes = parseForm(new FormData(event.currentTarget));
    const previousValues = pickCurrentValues(worker, changes);
    // The form remounts with the saved values, which would drop callbacks of mutate().
    change.mutateAsync(changes).then(
      () => toast(`${title}: saved`, { undo: () => change.mutate(previousValues) }),
      () => {},
    );
  }
  return (
    <Panel title={title}>
      <FormStack onSubmit={submit}>
        {about && <p className={styles.about}>{about}</p>}
        <fieldset className={styles.fields} disabled={!isEditable} aria-label={title}>
          {typeof children === 'function' ? children(problems) : children}
        </fieldset>
        {areAllShownInline ? (
          <Notice tone="error" title="Nothing was changed">
            {problems.length === 1 ? 'One field above is' : `${problems.length} fields above are`} not right yet.
          </Notice>
        ) : (
          <Failure title="Nothing was changed" error={change.error} />
        )}
        {change.data?.warnings.map((warning) => (
          <Notice key={warning} tone="info">
            {warning}
          </Notice>
        ))}
        {isEditable && (
          <div>
            <Button type="submit" variant="default" loading={change.isPending}>
              Save
            </Button>
          </div>
        )}
      </FormStack>
    </Panel>
  );
}

export const canEditWorker = ({ permissions, status }: Worker): boolean => permissions.edit && status !== 'archived';

/** Returns the current values of the changed fields, for undo. */
function pickCurrentValues(worker: Worker, changes: WorkerChange): WorkerChange {
  const current: WorkerChange = worker;
  return Object.fromEntries(Object.keys(changes).map((name) => [name, current[name as keyof WorkerChange]]));
}

export const getNumber = (formData: FormData, name: string): number => Number(formData.get(name));

/** Returns null for an empty field. */
export function getNumberOrNull(formData: FormData, name: string): number | null {
  const text = getText(formData, name);
  return text === '' ? null : Number(text);
}
