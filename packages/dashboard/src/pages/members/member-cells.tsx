import { Box, Center, Group, NativeSelect, Text } from '@mantine/core';
import { getRoleLabel, ROLE_OPTIONS } from '../../accounts/roles';
import type { Member, Role } from '../../shell/api';
import { useMe } from '../../shell/use-me';
import { ConfirmButton } from '../../ui/confirm-button';
import { NameCell } from '../../ui/name-cell';
import { PasswordLinkButton } from './password-link-button';

export function MemberName({ member }: { member: Member }) {
  const { data: me } = useMe();
  const { user_id, name, email, email_verified } = member;
  return (
    <Group gap="md" wrap="nowrap">
      <Center
        w={36}
        h={36}
        flex="none"
        bdrs="50%"
        bg="var(--accent-wash)"
        c="var(--accent)"
        fz="sm"
        fw={680}
        aria-hidden
      >
        {(name ?? email).charAt(0).toUpperCase()}
      </Center>
      <Box miw={0}>
        <NameCell
          name={
            <>
              {name ?? email}
              {user_id === me?.id && (
                <Text span inherit fw={400} c="dimmed">
                  {' '}
                  (you)
                </Text>
              )}
            </>
          }
        >
          {[name && email, !email_verified && 'email not verified'].filter(Boolean).join(' · ')}
        </NameCell>
      </Box>
    </Group>
  );
}

interface MemberRoleProps {
  member: Member;
  onChange: (role: Role) => void;
}

export function MemberRole({ member: { email, role, permissions }, onChange }: MemberRoleProps) {
  if (!permissions.change_role) return getRoleLabel(role);
  return (
    <NativeSelect
      size="sm"
      maw="15rem"
      aria-label={`Role for ${email}`}
      value={role}
      data={ROLE_OPTIONS}
      onChange={(event) => onChange(event.currentTarget.value as Role)}
    />
  );
}

interface MemberActionsProps {
  workspaceId: string;
  member: Member;
  isBusy: boolean;
  onRemove: () => void;
}

export function MemberActions({ workspaceId, member, isBusy, onRemove }: MemberActionsProps) {
  const { data: me } = useMe();
  const { user_id, email, permissions } = member;
  return (
    <>
      {permissions.reset_password && user_id !== me?.id && (
        <PasswordLinkButton workspaceId={workspaceId} member={member} />
      )}
      {permissions.remove && (
        <ConfirmButton label={`Remove ${email}`} question="Remove now" busy={isBusy} onConfirm={onRemove}>
          Remove
        </ConfirmButton>
      )}
    </>
  );
}
