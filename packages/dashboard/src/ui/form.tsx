import { createPolymorphicComponent, Group, type GroupProps, Stack, type StackProps } from '@mantine/core';
import type { ComponentPropsWithRef } from 'react';

const form = { component: 'form' } as const;
type LayoutProps<Props> = Omit<Props, keyof ComponentPropsWithRef<'div'>>;

/** A form with its fields below each other. */
export const FormStack = createPolymorphicComponent<'form', LayoutProps<StackProps>>(
  Stack.withProps({ ...form, gap: 'md' }),
);

/** A form of one line: its fields, and the button that sends it. */
export const FormRow = createPolymorphicComponent<'form', LayoutProps<GroupProps>>(
  Group.withProps({ ...form, gap: 'sm', align: 'flex-end' }),
);
