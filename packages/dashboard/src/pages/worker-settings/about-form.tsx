import { Textarea, TextInput } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { getFormText, splitParts } from '../../ui/form-text';
import { SettingsForm } from './settings-form';

export function AboutForm({ worker }: { worker: Worker }) {
  return (
    <SettingsForm
      worker={worker}
      title="General"
      parseForm={(formData) => ({
        name: getFormText(formData, 'name'),
        description: getFormText(formData, 'description'),
        tags: [...new Set(splitParts(getFormText(formData, 'tags'), ','))],
      })}
    >
      <TextInput name="name" label="Name" defaultValue={worker.name} maxLength={120} required />
      <TextInput name="tags" label="Tags" description="Separated by commas" defaultValue={worker.tags.join(', ')} />
      <Textarea
        className="full-row"
        name="description"
        label="Description"
        rows={3}
        maxLength={5_000}
        defaultValue={worker.description}
      />
    </SettingsForm>
  );
}
