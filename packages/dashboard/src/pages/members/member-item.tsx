import { Box, Center, Group, NativeSelect, Text } from '@mantine/core';
import { ROLE_OPTIONS, roleLabel } from '../../accounts/roles';
import type { Member, Role } from '../../shell/api';
import { useMe } from '../../shell/use-me';
import { ConfirmButton } from '../../ui/confirm-button';
import content from '../../ui/panel-content.module.css';
import { Timestamp } from '../../ui/timestamp';
import { PasswordLinkButton } from './password-link';

interface MemberItemProps {
  workspaceId: string;
  member: Member;
  isBusy: boolean;
  /** @param role null: removes the member */
  onChange: (role: Role | null) => void;
}

export function MemberItem({ workspaceId, member, isBusy, onChange }: MemberItemProps) {
  const { data: me } = useMe();
  const { user_id, name, email, email_verified, role, joined_at, permissions } = member;
  const isMe = user_id === me?.id;
  return (
    <li>
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
          <Text className="wrap-anywhere" fw={640}>
            {name ?? email}
            {isMe && (
              <Text span fw={400} c="dimmed">
                {' '}
                (you)
              </Text>
            )}
          </Text>
          <p className={content.about}>
            {name && `${email} · `}
            {!email_verified && 'address not verified · '}joined <Timestamp at={Date.parse(joined_at)} />
          </p>
        </Box>
      </Group>
      <Box fz="sm">
        {permissions.change_role ? (
          <NativeSelect
            size="sm"
            aria-label={`Role of ${email}`}
            value={role}
            data={ROLE_OPTIONS}
            onChange={(event) => onChange(event.currentTarget.value as Role)}
          />
        ) : (
          roleLabel(role)
        )}
      </Box>
      <Group gap="xs">
        {permissions.reset_password && !isMe && <PasswordLinkButton workspaceId={workspaceId} member={member} />}
        {permissions.remove && (
          <ConfirmButton label={`Remove ${email}`} question="Remove now" busy={isBusy} onConfirm={() => onChange(null)}>
            Remove
          </ConfirmButton>
        )}
      </Group>
    </li>
  );
}
