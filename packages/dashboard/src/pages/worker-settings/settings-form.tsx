import { ApiError } from '@gantry/sdk';
import { Button } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import type { Worker, WorkerChange } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { FormStack } from '../../ui/form';
import { Failure, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { textIn } from '../../ui/text-in';
import { useChangeWorker } from '../../workers/use-change-worker';
import styles from './settings-form.module.css';

interface SettingsFormProps {
  worker: Worker;
  title: string;
  /** A sentence about all of its fields. */
  about?: string;
  read: (given: FormData) => WorkerChange;
  /** Whether the children show the validation error of this field inline. */
  isShownBeside?: (path: string) => boolean;
  children: ReactNode | ((problems: readonly FieldProblem[]) => ReactNode);
}

export type FieldProblem = ApiError['fields'][number];

/** Edits one part of a worker's settings, which is saved separately; read-only without the permission. */
export function SettingsForm({ worker, title, about, read, isShownBeside, children }: SettingsFormProps) {
  const isEditable = mayEdit(worker);
  const change = useChangeWorker(worker.id);
  const problems = change.error instanceof ApiError ? change.error.fields : [];
  const areAllBeside = problems.length > 0 && problems.every(({ path }) => isShownBeside?.(path));
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const wanted = read(new FormData(event.currentTarget));
    const before = asItWas(worker, wanted);
    // The form remounts with the saved values, which would drop callbacks of mutate().
    change.mutateAsync(wanted).then(
      () => toast(`${title}: saved`, { undo: () => change.mutate(before) }),
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
        {areAllBeside ? (
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

export const mayEdit = ({ permissions, status }: Worker): boolean => permissions.edit && status !== 'archived';

/** Returns the current values of the changed fields, for undo. */
function asItWas(worker: Worker, wanted: WorkerChange): WorkerChange {
  const known: WorkerChange = worker;
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, known[name as keyof WorkerChange]]));
}

export const numberIn = (given: FormData, name: string): number => Number(given.get(name));

/** Returns null for an empty field. */
export function numberOrNullIn(given: FormData, name: string): number | null {
  const text = textIn(given, name);
  return text === '' ? null : Number(text);
}
