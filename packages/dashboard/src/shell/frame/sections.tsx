import type { ComponentType } from 'react';
import {
  AlertsIcon,
  ApprovalsIcon,
  AutomationsIcon,
  ChatIcon,
  ConnectionsIcon,
  ContextsIcon,
  OverviewIcon,
  RunsIcon,
  SecretsIcon,
  SettingsIcon,
  SkillsIcon,
  WorkersIcon,
} from '../../ui/icons';
import { paths, patterns } from '../paths';

export interface Section {
  path: string;
  label: string;
  Icon: ComponentType;
  /** After `g`. */
  key: string;
  /** Addresses outside of `path` that belong to it as well. */
  also?: string;
}

/** Sections of the dashboard in groups, for the navigation, the palette, the breadcrumbs and the shortcuts. */
export const SECTIONS: readonly (readonly Section[])[] = [
  [
    { path: paths.home, label: 'Overview', Icon: OverviewIcon, key: 'o' },
    { path: paths.chat, label: 'Chat', Icon: ChatIcon, key: 'h' },
    { path: paths.workers, label: 'Workers', Icon: WorkersIcon, key: 'w' },
    {
      path: paths.automations,
      label: 'Automations',
      Icon: AutomationsIcon,
      key: 'a',
      also: patterns.automation.split('/:')[0],
    },
    { path: paths.runs, label: 'Runs', Icon: RunsIcon, key: 'r' },
    { path: paths.approvals, label: 'Approvals', Icon: ApprovalsIcon, key: 'p' },
  ],
  [
    { path: paths.skills, label: 'Skills', Icon: SkillsIcon, key: 'k' },
    { path: paths.contexts, label: 'Contexts', Icon: ContextsIcon, key: 'c' },
    { path: paths.connections, label: 'Connections', Icon: ConnectionsIcon, key: 'n' },
    { path: paths.secrets, label: 'Secrets', Icon: SecretsIcon, key: 's' },
    { path: paths.alerts, label: 'Alerts', Icon: AlertsIcon, key: 'l' },
  ],
  [{ path: paths.settings, label: 'Settings', Icon: SettingsIcon, key: 't' }],
];

const isAtOrBelow = (path: string, pathname: string) => pathname === path || pathname.startsWith(`${path}/`);

/** Finds the section that an address belongs to; undefined for a page outside of all. */
export const findSection = (pathname: string): Section | undefined =>
  SECTIONS.flat().find(({ path, also }) =>
    path === paths.home
      ? pathname === path
      : isAtOrBelow(path, pathname) || (also !== undefined && isAtOrBelow(also, pathname)),
  );
