import { Textarea, TextInput } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { textIn } from '../../ui/text-in';
import { SettingsForm } from './settings-form';
import styles from './settings-form.module.css';

export function AboutForm({ worker }: { worker: Worker }) {
  return (
    <SettingsForm
      worker={worker}
      title="Name"
      read={(given) => ({
        name: textIn(given, 'name'),
        description: textIn(given, 'description'),
        tags: [
          ...new Set(
            textIn(given, 'tags')
              .split(',')
              .map((tag) => tag.trim()),
          ),
        ].filter((tag) => tag !== ''),
      })}
    >
      <TextInput name="name" label="Name" defaultValue={worker.name} maxLength={120} required withAsterisk={false} />
      <TextInput name="tags" label="Tags" description="Separated by commas" defaultValue={worker.tags.join(', ')} />
      <Textarea
        className={styles.wide}
        name="description"
        label="Description"
        rows={3}
        maxLength={5_000}
        defaultValue={worker.description}
      />
    </SettingsForm>
  );
}
