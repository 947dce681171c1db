import { createPolymorphicComponent, Group, type GroupProps, Stack, type StackProps } from '@mantine/core';
import type { ComponentPropsWithRef, FormEvent } from 'react';

const form = { component: 'form' } as const;
type LayoutProps<Props> = Omit<Props, keyof ComponentPropsWithRef<'div'>>;

/** Lays out a form with its fields in a column. */
export const FormStack = createPolymorphicComponent<'form', LayoutProps<StackProps>>(
  Stack.withProps({ ...form, gap: 'md' }),
);

/** Lays out a form in one row: its fields and the submit button. */
export const FormRow = createPolymorphicComponent<'form', LayoutProps<GroupProps>>(
  Group.withProps({ ...form, gap: 'sm', align: 'flex-end' }),
);

/** Calls `submit` with the fields of a form, and the form itself, instead of sending it. */
export const handleSubmit =
  (submit: (formData: FormData, form: HTMLFormElement) => unknown) => (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void submit(new FormData(event.currentTarget), event.currentTarget);
  };
