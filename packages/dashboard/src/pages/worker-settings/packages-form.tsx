import { Textarea } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { getFormText, splitParts } from '../../ui/form-text';
import { SettingsForm } from './settings-form';

export function PackagesForm({ worker }: { worker: Worker }) {
  const { python_dependencies: packages, dependencies_source: source } = worker;
  return (
    <SettingsForm
      worker={worker}
      title="Packages"
      about="Python packages, one per line."
      parseForm={(formData) => ({ python_dependencies: splitParts(getFormText(formData, 'packages'), '\n') })}
    >
      <Textarea
        className="full-row"
        name="packages"
        aria-label="Packages"
        description={
          source === null
            ? 'Pin versions (for example, requests==2.32.5) so every run uses the same packages'
            : `If empty, packages from ${source} are installed: ${packages.join(', ') || 'none'}. Packages listed here replace them.`
        }
        rows={4}
        spellCheck={false}
        defaultValue={source === null ? packages.join('\n') : ''}
      />
    </SettingsForm>
  );
}
