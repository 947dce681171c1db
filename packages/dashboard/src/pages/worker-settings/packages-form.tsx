import { Textarea } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { textIn } from '../../ui/text-in';
import { SettingsForm } from './settings-form';
import styles from './settings-form.module.css';

export function PackagesForm({ worker }: { worker: Worker }) {
  return (
    <SettingsForm
      worker={worker}
      title="Packages"
      about="Python packages that its code imports, one on a line."
      read={(given) => ({
        python_dependencies: textIn(given, 'packages')
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== ''),
      })}
    >
      <Textarea
        className={styles.wide}
        name="packages"
        aria-label="Packages"
        description="With a version they are the same in every run: requests==2.32.5"
        rows={4}
        spellCheck={false}
        defaultValue={worker.python_dependencies.join('\n')}
      />
    </SettingsForm>
  );
}
