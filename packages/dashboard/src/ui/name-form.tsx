import { Button, TextInput } from '@mantine/core';
import { FormRow, handleSubmit } from './form';
import { getFormText } from './form-text';

interface NameFormProps {
  label: string;
  placeholder?: string;
  defaultValue?: string;
  /** Label of the button. */
  submit: string;
  isBusy: boolean;
  /** @param reset empties the field */
  onSubmit: (name: string, reset: () => void) => void;
}

/** A form in one row that asks for a name. */
export const NameForm = ({ submit, isBusy, onSubmit, ...field }: NameFormProps) => (
  <FormRow
    mb="md"
    onSubmit={handleSubmit((formData, form) => onSubmit(getFormText(formData, 'name'), () => form.reset()))}
  >
    <TextInput flex="1 1 16rem" name="name" maxLength={100} autoComplete="off" required {...field} />
    <Button type="submit" size="md" loading={isBusy}>
      {submit}
    </Button>
  </FormRow>
);
