import * as tabler from '@tabler/icons-react';

/** Creates an icon beside a label with the same meaning, hidden from screen readers. */
const createInlineIcon = (Drawing: tabler.Icon) => () => (
  <Drawing size={16} stroke={2.4} aria-hidden="true" focusable="false" />
);

export const ArrowDownIcon = createInlineIcon(tabler.IconArrowDown);
export const ArrowUpIcon = createInlineIcon(tabler.IconArrowUp);
export const BookmarkIcon = createInlineIcon(tabler.IconBookmark);
export const BookmarkedIcon = createInlineIcon(tabler.IconBookmarkFilled);
export const BoltIcon = createInlineIcon(tabler.IconBolt);
export const CallIcon = createInlineIcon(tabler.IconArrowForwardUp);
export const CheckIcon = createInlineIcon(tabler.IconCheck);
export const ClockIcon = createInlineIcon(tabler.IconClock);
export const CopyIcon = createInlineIcon(tabler.IconCopy);
export const CrossIcon = createInlineIcon(tabler.IconX);
export const DownIcon = createInlineIcon(tabler.IconChevronDown);
export const DownloadIcon = createInlineIcon(tabler.IconDownload);
export const LinkIcon = createInlineIcon(tabler.IconLink);
export const LockIcon = createInlineIcon(tabler.IconLock);
export const FileIcon = createInlineIcon(tabler.IconFile);
export const ModelIcon = createInlineIcon(tabler.IconSparkles);
export const MoonIcon = createInlineIcon(tabler.IconMoon);
export const PauseIcon = createInlineIcon(tabler.IconPlayerPause);
export const PersonIcon = createInlineIcon(tabler.IconUser);
export const PlayIcon = createInlineIcon(tabler.IconPlayerPlayFilled);
export const PlusIcon = createInlineIcon(tabler.IconPlus);
export const RightIcon = createInlineIcon(tabler.IconChevronRight);
export const SearchIcon = createInlineIcon(tabler.IconSearch);
export const SleepIcon = createInlineIcon(tabler.IconBed);
export const StopIcon = createInlineIcon(tabler.IconMinus);
export const StopSquareIcon = createInlineIcon(tabler.IconPlayerStopFilled);
export const SunIcon = createInlineIcon(tabler.IconSun);
export const ToolIcon = createInlineIcon(tabler.IconTool);
export const UpIcon = createInlineIcon(tabler.IconChevronUp);
export const WarningIcon = createInlineIcon(tabler.IconAlertTriangle);
export const WaitIcon = createInlineIcon(tabler.IconDots);
export const WorldIcon = createInlineIcon(tabler.IconWorld);

/** Creates a navigation icon, beside its name or alone where the navigation is narrow. */
const createNavigationIcon = (Drawing: tabler.Icon) => () => (
  <Drawing size={20} stroke={1.8} aria-hidden="true" focusable="false" />
);

export const ReportIcon = createNavigationIcon(tabler.IconChartBar);
export const DataIcon = createNavigationIcon(tabler.IconDatabase);
export const MonitoringIcon = createNavigationIcon(tabler.IconActivity);
export const CodeIcon = createNavigationIcon(tabler.IconFileCode);
export const AgentIcon = createNavigationIcon(tabler.IconSparkles);
export const OverviewIcon = createNavigationIcon(tabler.IconLayoutDashboard);
export const ChatIcon = createNavigationIcon(tabler.IconMessages);
export const WorkersIcon = createNavigationIcon(tabler.IconRobot);
export const AutomationsIcon = createNavigationIcon(tabler.IconBolt);
export const RunsIcon = createNavigationIcon(tabler.IconHistory);
export const ApprovalsIcon = createNavigationIcon(tabler.IconChecklist);
export const SkillsIcon = createNavigationIcon(tabler.IconBook2);
export const ConnectionsIcon = createNavigationIcon(tabler.IconPlug);
export const ContextsIcon = createNavigationIcon(tabler.IconFolders);
export const SecretsIcon = createNavigationIcon(tabler.IconKey);
export const AlertsIcon = createNavigationIcon(tabler.IconBell);
export const SettingsIcon = createNavigationIcon(tabler.IconSettings);
export const DocsIcon = createNavigationIcon(tabler.IconFileText);
export const MenuIcon = createNavigationIcon(tabler.IconMenu2);
export const CollapseIcon = createNavigationIcon(tabler.IconLayoutSidebarLeftCollapse);
export const ExpandIcon = createNavigationIcon(tabler.IconLayoutSidebarLeftExpand);
