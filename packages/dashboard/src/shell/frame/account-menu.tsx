import { Box } from '@mantine/core';
import { Link } from 'react-router';
import { MenuButton, menuItem } from '../../ui/menu-button';
import { paths } from '../paths';
import { session, useSession } from '../session';
import styles from './account-menu.module.css';

export function AccountMenu() {
  const { email } = useSession();
  return (
    <MenuButton
      label="Account"
      align="end"
      className={`icon-button ${styles.button}`}
      trigger={<span aria-hidden="true">{(email ?? '?').charAt(0).toUpperCase()}</span>}
    >
      {(close) => (
        <>
          {email && (
            <Box component="p" className="wrap-anywhere" p="8px 12px" fz="sm" c="dimmed">
              {email}
            </Box>
          )}
          <Link to={paths.account} className={menuItem} onClick={close}>
            Your account
          </Link>
          <Link to={paths.tokens} className={menuItem} onClick={close}>
            Your tokens
          </Link>
          <button type="button" className={menuItem} onClick={() => session.signOut()}>
            Sign out
          </button>
        </>
      )}
    </MenuButton>
  );
}
