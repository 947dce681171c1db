import { type ReactNode, useEffect, useRef } from 'react';
import type { Worker, WorkerChange } from '../../shell/api';
import { FormStack, handleSubmit } from '../../ui/form';
import { Panel } from '../../ui/panel';
import { canEditWorker } from '../../workers/can-edit-worker';
import { useSettingsEditor } from './settings-editor';
import styles from './settings-form.module.css';

interface SettingsFormProps {
  worker: Worker;
  title: string;
  /** A sentence about all of its fields. */
  about?: string;
  parseForm: (formData: FormData) => WorkerChange;
  /** Called when its changes are sent. */
  onSave?: () => void;
  /** Whether the children show the validation error of this field inline. */
  isShownInline?: (path: string) => boolean;
  children: ReactNode;
}

/** Edits one part of a worker's settings, inside a SettingsEditor; read-only without the permission. */
export function SettingsForm({ worker, title, about, parseForm, onSave, isShownInline, children }: SettingsFormProps) {
  const isEditable = canEditWorker(worker);
  const { report, save } = useSettingsEditor();
  const form = useRef<HTMLFormElement>(null);
  const initialValues = useRef<string>(undefined);

  function compareWithSaved() {
    const element = form.current;
    if (!element || !isEditable) return;
    const readChanges = () => parseForm(new FormData(element));
    const values = formatChanges(readChanges);
    initialValues.current ??= values;
    const isChanged = values !== initialValues.current;
    report(title, isChanged ? { form: element, readChanges, onSave, isShownInline } : undefined);
  }
  // Rows that are added or removed change the form without an event of a field.
  useEffect(compareWithSaved);
  useEffect(() => () => report(title, undefined), [report, title]);

  return (
    <Panel title={title}>
      <FormStack ref={form} onChange={compareWithSaved} onSubmit={handleSubmit(save)}>
        {about && <p className="help-text">{about}</p>}
        <fieldset className={styles.fields} disabled={!isEditable} aria-label={title}>
          {children}
        </fieldset>
        {/* Without a submit button, Enter submits only a form with a single field. */}
        <button type="submit" hidden />
      </FormStack>
    </Panel>
  );
}

/** Formats what a form would save, to compare it; a form that cannot be read yet has changed. */
function formatChanges(readChanges: () => WorkerChange): string {
  try {
    return JSON.stringify(readChanges());
  } catch {
    return 'invalid';
  }
}
