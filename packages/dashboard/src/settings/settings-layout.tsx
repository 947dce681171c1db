import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { LinkTabs } from '../shell/link-tabs';
import { paths } from '../shell/paths';
import { useTitle } from '../shell/use-title';
import { PageHeader } from '../ui/page-header';

const PAGES = [
  { to: paths.workspace, label: 'Workspace' },
  { to: paths.members, label: 'Members' },
  { to: paths.tokens, label: 'Tokens' },
  { to: paths.models, label: 'Models' },
  { to: paths.usage, label: 'Usage' },
  { to: paths.auditLog, label: 'Audit log' },
  { to: paths.account, label: 'Account' },
];

interface SettingsLayoutProps {
  title: string;
  /** A sentence that says what the page is about. */
  about?: string;
  children: ReactNode;
}

export function SettingsLayout({ title, about, children }: SettingsLayoutProps) {
  useTitle(title);
  return (
    <>
      <LinkTabs label="Settings" tabs={PAGES} />
      <PageHeader title={title} about={about} />
      <Stack gap="lg">{children}</Stack>
    </>
  );
}
