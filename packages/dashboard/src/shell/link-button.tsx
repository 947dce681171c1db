import { Button, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, type To } from 'react-router';

interface LinkButtonProps extends ButtonProps {
  to: To;
  onClick?: (() => void) | undefined;
  children: ReactNode;
}

/** Renders a link that looks like a button. */
export const LinkButton = (props: LinkButtonProps) => <Button component={Link} {...props} />;
