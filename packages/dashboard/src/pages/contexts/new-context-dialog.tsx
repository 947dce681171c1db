import { Checkbox, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useUpdateCachedContext } from '../../contexts/use-context-pack';
import { api, hasErrorStatus } from '../../shell/api';
import { contextPath } from '../../shell/paths';
import { bindChecked, bindText } from '../../ui/bind';
import { FormDialog } from '../../ui/form-dialog';

/** The names that the API accepts. */
const NAME_PATTERN = /^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$/;

export function NewContextDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const updateCachedContext = useUpdateCachedContext();
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [description, setDescription] = useState('');
  const [isPrivate, setPrivate] = useState(false);
  const [writeable, setWriteable] = useState(false);
  const create = useMutation({
    mutationFn: async () => {
      const visibility = isPrivate ? ('private' as const) : ('workspace' as const);
      const body = { name, description, writeable, visibility };
      return api.worker.POST('/api/contexts', { body });
    },
    onSuccess: (created) => {
      updateCachedContext(created);
      navigate(contextPath(created.name));
    },
  });
  function submit() {
    if (NAME_PATTERN.test(name)) create.mutate();
    else setProblem('Use 3 to 64 lowercase letters, digits and dashes, such as price-list.');
  }
  const isTaken = hasErrorStatus(create.error, 409);
  return (
    <FormDialog
      title="New context"
      submit="Create context"
      mutation={{ isPending: create.isPending, error: isTaken ? null : create.error }}
      failure="Context not created"
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Workers read the files from contexts/&lt;name&gt;/."
        placeholder="price-list"
        autoFocus
        required
        maxLength={64}
        autoComplete="off"
        spellCheck={false}
        error={problem ?? (isTaken ? `A context named ${name} already exists.` : null)}
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value);
          setProblem(null);
          create.reset();
        }}
      />
      <TextInput label="Description" maxLength={2_000} {...bindText(description, setDescription)} />
      <Checkbox label="Private" description="Only you and admins can see it." {...bindChecked(isPrivate, setPrivate)} />
      <Checkbox
        label="Allow runs to save changes"
        description="Changes made by a completed run are saved as a new version."
        {...bindChecked(writeable, setWriteable)}
      />
    </FormDialog>
  );
}
