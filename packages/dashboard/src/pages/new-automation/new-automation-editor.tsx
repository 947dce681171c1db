import { Button, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useNavigate } from 'react-router';
import { automationKeys } from '../../automations/automation-keys';
import { PackageWorkspace } from '../../automations/package-workspace';
import { type Package, usePackage } from '../../automations/use-package';
import type { Draft } from '../../code/use-draft';
import { api } from '../../shell/api';
import { automationPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { bindChoice } from '../../ui/bind';
import { ConfirmButton } from '../../ui/confirm-button';
import { FormStack, handleSubmit } from '../../ui/form';
import { ErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';

interface NewAutomationEditorProps {
  draft: Draft;
  about: ReactNode;
  /** Undefined: `main.py`. */
  entrypoint?: string;
  /** Shown above the files. */
  children?: ReactNode;
}

/** Edits, tests and deploys the files of a new automation. */
export function NewAutomationEditor({ draft, about, entrypoint, children }: NewAutomationEditorProps) {
  const pack = usePackage(draft, entrypoint);
  return (
    <Stack gap="md">
      <PageHeader
        title="New automation"
        about={about}
        actions={
          draft.changes.length > 0 && (
            <ConfirmButton
              label="Start over and discard these files"
              question="Discard now"
              busy={false}
              onConfirm={() => draft.write(draft.base)}
            >
              Start over
            </ConfirmButton>
          )
        }
      />
      {children}
      <PackageWorkspace draft={draft} packageDraft={pack} automationId={null}>
        <DeployPanel draft={draft} pack={pack} />
      </PackageWorkspace>
    </Stack>
  );
}

type Visibility = 'private' | 'public';

interface DeployPanelProps {
  draft: Draft;
  pack: Package;
}

function DeployPanel({ draft, pack }: DeployPanelProps) {
  const navigate = useNavigate();
  const invalidateAutomations = useInvalidateQueries(automationKeys.all);
  const [visibility, setVisibility] = useState<Visibility>('private');
  const deploy = useMutation({
    mutationFn: async () => {
      const { artifactId, warnings } = await pack.artifact();
      const deployed = await api.automation.POST('/api/deploy', { body: { artifactId, visibility } });
      return { ...deployed, warnings: [...warnings, ...deployed.warnings] };
    },
    onSuccess: ({ id, name, warnings }) => {
      void invalidateAutomations();
      draft.rebase(draft.baseSha, null);
      toast([`${name} deployed`, ...warnings].join('. '));
      navigate(automationPath(id));
    },
  });
  const { manifest } = pack;
  return (
    <Panel title="Deploy">
      <FormStack onSubmit={handleSubmit(() => deploy.mutate())}>
        <Text fz="sm" c="dimmed">
          {'problem' in manifest
            ? 'Fix manifest.json before you deploy.'
            : `Deploys “${manifest.name}” as version 1. The name, inputs and outputs come from manifest.json.`}
        </Text>
        <NativeSelect
          label="Who can run it"
          {...bindChoice(visibility, setVisibility)}
          data={[
            { value: 'private', label: 'Workspace members' },
            { value: 'public', label: 'Anyone with the link' },
          ]}
        />
        <ErrorNotice title="Automation not deployed" error={deploy.error} />
        <Button type="submit" loading={deploy.isPending} disabled={'problem' in manifest} fullWidth>
          Deploy
        </Button>
      </FormStack>
    </Panel>
  );
}
