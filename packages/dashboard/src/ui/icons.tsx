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
const beside = (Drawing: Icon) => () => <Drawing size={16} stroke={2.4} aria-hidden="true" focusable="false" />;

export const ArrowDownIcon = beside(IconArrowDown);
export const ArrowUpIcon = beside(IconArrowUp);
export const BookmarkIcon = beside(IconBookmark);
export const BookmarkedIcon = beside(IconBookmarkFilled);
export const BoltIcon = beside(IconBolt);
export const CallIcon = beside(IconArrowForwardUp);
export const CheckIcon = beside(IconCheck);
export const ClockIcon = beside(IconClock);
export const CopyIcon = beside(IconCopy);
export const CrossIcon = beside(IconX);
export const DownIcon = beside(IconChevronDown);
export const DownloadIcon = beside(IconDownload);
export const LinkIcon = beside(IconLink);
export const LockIcon = beside(IconLock);
export const FileIcon = beside(IconFile);
export const ModelIcon = beside(IconSparkles);
export const MoonIcon = beside(IconMoon);
export const PauseIcon = beside(IconPlayerPause);
export const PersonIcon = beside(IconUser);
export const PlayIcon = beside(IconPlayerPlayFilled);
export const RightIcon = beside(IconChevronRight);
export const SearchIcon = beside(IconSearch);
export const SleepIcon = beside(IconBed);
export const StopIcon = beside(IconMinus);
export const StopSquareIcon = beside(IconPlayerStopFilled);
export const SunIcon = beside(IconSun);
export const ToolIcon = beside(IconTool);
export const UpIcon = beside(IconChevronUp);
export const WarningIcon = beside(IconAlertTriangle);
export const WaitIcon = beside(IconDots);
export const WorldIcon = beside(IconWorld);

/** Creates a navigation icon, beside its name or alone where the navigation is narrow. */
const place = (Drawing: Icon) => () => <Drawing size={20} stroke={1.8} aria-hidden="true" focusable="false" />;

export const ReportIcon = place(IconChartBar);
export const DataIcon = place(IconDatabase);
export const MonitoringIcon = place(IconActivity);
export const CodeIcon = place(IconFileCode);
export const AgentIcon = place(IconSparkles);
export const OverviewIcon = place(IconLayoutDashboard);
export const ChatIcon = place(IconMessages);
export const WorkersIcon = place(IconRobot);
export const AutomationsIcon = place(IconBolt);
export const RunsIcon = place(IconHistory);
export const ApprovalsIcon = place(IconChecklist);
export const SkillsIcon = place(IconBook2);
export const ConnectionsIcon = place(IconPlug);
export const ContextsIcon = place(IconFolders);
export const SecretsIcon = place(IconKey);
export const AlertsIcon = place(IconBell);
export const SettingsIcon = place(IconSettings);
export const DocsIcon = place(IconFileText);
export const MenuIcon = place(IconMenu2);
export const NarrowIcon = place(IconLayoutSidebarLeftCollapse);
export const WidenIcon = place(IconLayoutSidebarLeftExpand);
