import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { LibraryItem, Visibility } from '../shell/api';
import { FormStack, handleSubmit } from '../ui/form';
import { ErrorNotice } from '../ui/notice';
import { VisibilityField } from './visibility-field';

export interface LibraryFields {
  title: string;
  description: string;
  visibility: Visibility;
}

interface LibraryFormProps {
  library?: Pick<LibraryItem, keyof LibraryFields>;
  action: string;
  busy: boolean;
  error: Error | null;
  onSubmit: (fields: LibraryFields) => void;
}

/** Edits the fields of a new or existing library. */
export function LibraryForm({ library, action, busy, error, onSubmit }: LibraryFormProps) {
  const [visibility, setVisibility] = useState<Visibility>(library?.visibility ?? 'private');

  function submit(form: FormData) {
    onSubmit({
      title: String(form.get('title')).trim(),
      description: String(form.get('description')).trim(),
      visibility,
    });
  }

  return (
    <FormStack onSubmit={handleSubmit(submit)}>
      <TextInput
        name="title"
        label="Title"
        defaultValue={library?.title}
        maxLength={200}
        autoComplete="off"
        required
        autoFocus={!library}
      />
      <TextInput
        name="description"
        label="Description"
        placeholder="What the skills in this library are for"
        defaultValue={library?.description}
        maxLength={1024}
        autoComplete="off"
      />
      <VisibilityField value={visibility} onChange={setVisibility} />
      <ErrorNotice title="Library not saved" error={error} />
      <div>
        <Button type="submit" size="md" loading={busy}>
          {action}
        </Button>
      </div>
    </FormStack>
  );
}
