import { Checkbox, Stack } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { SettingsForm } from './settings-form';

/** Selects the values whose placeholders are also replaced in bodies; renders nothing without any to select. */
export function BodyPlaceholdersForm({ worker }: { worker: Worker }) {
  const { secrets, connections, in_body: chosen } = worker;
  const names = [...new Set([...secrets, ...connections])];
  if (names.length === 0) return null;
  return (
    <SettingsForm
      worker={worker}
      title="Placeholders in request bodies"
      about="In requests to allowed hosts, placeholders in headers, paths and query strings are replaced with their values. Choose which placeholders to also replace in request bodies (JSON, forms and text up to 1 MB)."
      parseForm={(formData) => ({ in_body: formData.getAll('in_body').map(String) })}
    >
      <Stack component="fieldset" gap="xs" style={{ alignSelf: 'start' }}>
        <legend>Also replace in request bodies</legend>
        {names.map((name) => (
          <Checkbox key={name} name="in_body" value={name} label={name} defaultChecked={chosen.includes(name)} />
        ))}
      </Stack>
    </SettingsForm>
  );
}
