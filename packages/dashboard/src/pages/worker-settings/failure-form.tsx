import { Checkbox, Stack } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { SettingsForm } from './settings-form';

export function FailureForm({ worker }: { worker: Worker }) {
  return (
    <SettingsForm
      worker={worker}
      title="Automatic repair"
      about="A model analyzes the failed run and its code, rehearses a fix without external effects, and requests approval. Each error triggers at most one automatic repair per version. If a price is set for the model, each repair costs up to $0.50."
      parseForm={(formData) => ({ on_failure: formData.has('propose_repair') ? 'propose_repair' : 'none' })}
    >
      <Stack className="full-row" gap="xs">
        <Checkbox
          name="propose_repair"
          label="Start a repair automatically when the last attempt fails"
          defaultChecked={worker.on_failure === 'propose_repair'}
        />
      </Stack>
    </SettingsForm>
  );
}
