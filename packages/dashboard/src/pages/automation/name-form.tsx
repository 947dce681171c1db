import { Button, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useUpdateAutomation } from '../../automations/use-update-automation';
import type { Automation } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { bindText } from '../../ui/bind';
import { FormStack } from '../../ui/form';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';

interface NameFormProps {
  automation: Automation;
  canEdit: boolean;
}

export function NameForm({ automation, canEdit }: NameFormProps) {
  const [name, setName] = useState(automation.name);
  const [description, setDescription] = useState(automation.description);
  const change = useUpdateAutomation(automation.id);
  const isChanged = name.trim() !== automation.name || description.trim() !== automation.description;

  function handleSubmit(event: FormEvent) {
    event.preventDefault();
    change.mutate(
      { name: name.trim(), description: description.trim() },
      { onSuccess: (saved) => toast(`${saved.name} saved`) },
    );
  }

  return (
    <Panel title="Name and description">
      <FormStack onSubmit={handleSubmit}>
        <TextInput
          label="Name"
          {...bindText(name, setName)}
          maxLength={200}
          autoComplete="off"
          required
          disabled={!canEdit}
        />
        <Textarea label="Description" rows={3} {...bindText(description, setDescription)} disabled={!canEdit} />
        <ErrorNotice title="Changes not saved" error={change.error} />
        {canEdit && (
          <div>
            <Button type="submit" loading={change.isPending} disabled={!isChanged || name.trim() === ''}>
              Save
            </Button>
          </div>
        )}
      </FormStack>
    </Panel>
  );
}
