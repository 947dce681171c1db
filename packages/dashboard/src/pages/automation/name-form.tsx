import { Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useUpdateAutomation } from '../../automations/use-update-automation';
import type { Automation } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { bindText } from '../../ui/bind';
import { FormStack, handleSubmit } from '../../ui/form';
import { FormActions } from '../../ui/form-actions';
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

  const save = () =>
    change.mutate(
      { name: name.trim(), description: description.trim() },
      { onSuccess: (saved) => toast(`${saved.name} saved`) },
    );

  return (
    <Panel title="Name and description">
      <FormStack onSubmit={handleSubmit(save)}>
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
          <FormActions submit="Save" isBusy={change.isPending} isDisabled={!isChanged || name.trim() === ''} />
        )}
      </FormStack>
    </Panel>
  );
}
