import type { ReactNode } from 'react';
import { LinkButton } from '../shell/link-button';
import { LinkTabs } from '../shell/link-tabs';
import { paths } from '../shell/paths';
import { useWorkspace } from '../shell/use-me';
import { PageHeader } from '../ui/page-header';

const TABS = [
  { to: paths.skills, label: 'Mine' },
  { to: paths.workspaceSkills, label: 'Workspace' },
  { to: paths.savedSkills, label: 'Saved' },
  { to: paths.libraries, label: 'Libraries' },
  { to: paths.deletedSkills, label: 'Deleted' },
];

/** Frames the lists of skills with a head and tabs. */
export function SkillsLayout({ actions, children }: { actions?: ReactNode; children: ReactNode }) {
  const canWrite = useWorkspace()?.role !== 'viewer';
  return (
    <>
      <PageHeader
        title="Skills"
        about="Markdown instructions for people and agents."
        actions={
          <>
            {actions}
            {canWrite && <LinkButton to={paths.newSkill}>New skill</LinkButton>}
          </>
        }
      />
      <LinkTabs label="Skills" tabs={TABS} />
      {children}
    </>
  );
}
