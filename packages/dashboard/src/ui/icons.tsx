import {
  type Icon,
  IconActivity,
  IconAlertTriangle,
  IconArrowDown,
  IconArrowForwardUp,
  IconArrowUp,
  IconBed,
  IconBell,
  IconBolt,
  IconBook2,
  IconBookmark,
  IconBookmarkFilled,
  IconChartBar,
  IconCheck,
  IconChecklist,
  IconChevronDown,
  IconChevronRight,
  IconChevronUp,
  IconClock,
  IconCopy,
  IconDatabase,
  IconDots,
  IconDownload,
  IconFile,
  IconFileCode,
  IconFileText,
  IconFolders,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconLink,
  IconLock,
  IconMenu2,
  IconMessages,
  IconMinus,
  IconMoon,
  IconPlayerPause,
  IconPlayerPlayFilled,
  IconPlayerStopFilled,
  IconPlug,
  IconPlus,
  IconRobot,
  IconSearch,
  IconSettings,
  IconSparkles,
  IconSun,
  IconTool,
  IconUser,
  IconWorld,
  IconX,
} from '@tabler/icons-react';

/** Creates an icon beside a label with the same meaning, hidden from screen readers. */
const createInlineIcon = (Drawing: Icon) => () => (
  <Drawing size={16} stroke={2.4} aria-hidden="true" focusable="false" />
);

export const ArrowDownIcon = createInlineIcon(IconArrowDown);
export const ArrowUpIcon = createInlineIcon(IconArrowUp);
export const BookmarkIcon = createInlineIcon(IconBookmark);
export const BookmarkedIcon = createInlineIcon(IconBookmarkFilled);
export const BoltIcon = createInlineIcon(IconBolt);
export const CallIcon = createInlineIcon(IconArrowForwardUp);
export const CheckIcon = createInlineIcon(IconCheck);
export const ClockIcon = createInlineIcon(IconClock);
export const CopyIcon = createInlineIcon(IconCopy);
export const CrossIcon = createInlineIcon(IconX);
export const DownIcon = createInlineIcon(IconChevronDown);
export const DownloadIcon = createInlineIcon(IconDownload);
export const LinkIcon = createInlineIcon(IconLink);
export const LockIcon = createInlineIcon(IconLock);
export const FileIcon = createInlineIcon(IconFile);
export const ModelIcon = createInlineIcon(IconSparkles);
export const MoonIcon = createInlineIcon(IconMoon);
export const PauseIcon = createInlineIcon(IconPlayerPause);
export const PersonIcon = createInlineIcon(IconUser);
export const PlayIcon = createInlineIcon(IconPlayerPlayFilled);
export const PlusIcon = createInlineIcon(IconPlus);
export const RightIcon = createInlineIcon(IconChevronRight);
export const SearchIcon = createInlineIcon(IconSearch);
export const SleepIcon = createInlineIcon(IconBed);
export const StopIcon = createInlineIcon(IconMinus);
export const StopSquareIcon = createInlineIcon(IconPlayerStopFilled);
export const SunIcon = createInlineIcon(IconSun);
export const ToolIcon = createInlineIcon(IconTool);
export const UpIcon = createInlineIcon(IconChevronUp);
export const WarningIcon = createInlineIcon(IconAlertTriangle);
export const WaitIcon = createInlineIcon(IconDots);
export const WorldIcon = createInlineIcon(IconWorld);

/** Creates a navigation icon, beside its name or alone where the navigation is narrow. */
const createNavigationIcon = (Drawing: Icon) => () => (
  <Drawing size={20} stroke={1.8} aria-hidden="true" focusable="false" />
);

export const ReportIcon = createNavigationIcon(IconChartBar);
export const DataIcon = createNavigationIcon(IconDatabase);
export const MonitoringIcon = createNavigationIcon(IconActivity);
export const CodeIcon = createNavigationIcon(IconFileCode);
export const AgentIcon = createNavigationIcon(IconSparkles);
export const OverviewIcon = createNavigationIcon(IconLayoutDashboard);
export const ChatIcon = createNavigationIcon(IconMessages);
export const WorkersIcon = createNavigationIcon(IconRobot);
export const AutomationsIcon = createNavigationIcon(IconBolt);
export const RunsIcon = createNavigationIcon(IconHistory);
export const ApprovalsIcon = createNavigationIcon(IconChecklist);
export const SkillsIcon = createNavigationIcon(IconBook2);
export const ConnectionsIcon = createNavigationIcon(IconPlug);
export const ContextsIcon = createNavigationIcon(IconFolders);
export const SecretsIcon = createNavigationIcon(IconKey);
export const AlertsIcon = createNavigationIcon(IconBell);
export const SettingsIcon = createNavigationIcon(IconSettings);
export const DocsIcon = createNavigationIcon(IconFileText);
export const MenuIcon = createNavigationIcon(IconMenu2);
export const CollapseIcon = createNavigationIcon(IconLayoutSidebarLeftCollapse);
export const ExpandIcon = createNavigationIcon(IconLayoutSidebarLeftExpand);
