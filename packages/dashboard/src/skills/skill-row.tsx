import { Box, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { SkillItem } from '../shell/api';
import { skillPath } from '../shell/paths';
import links from '../ui/link-row.module.css';
import { Timestamp } from '../ui/timestamp';
import styles from './skill-row.module.css';
import { VisibilityChip } from './visibility-field';

interface SkillRowProps {
  skill: SkillItem;
  /** Replaces the plain title, with search hits highlighted. */
  title?: ReactNode;
  description?: ReactNode;
  /** Buttons. */
  children?: ReactNode;
}

/** Shows a skill in a list; its name links to it unless it was deleted. */
export function SkillRow({ skill, title = skill.title, description = skill.description, children }: SkillRowProps) {
  return (
    <li className={`${links.row} ${styles.row}`}>
      <div className={styles.what}>
        {skill.deleted_at ? (
          <span className={links.name}>{title}</span>
        ) : (
          <Link className={`${links.link} ${links.name} stretched-link`} to={skillPath(skill.slug)}>
            {title}
          </Link>
        )}
        {description && (
          <Text className="wrap-anywhere" lineClamp={2} mt={2} fz="sm" c="dimmed">
            {description}
          </Text>
        )}
        <Group component="p" gap="4px 12px" mt={4} fz="xs" c="dimmed">
          {!skill.owned && <span>{skill.owner.name ? `By ${skill.owner.name}` : 'Unknown author'}</span>}
          {skill.deleted_at ? (
            <span>
              Deleted <Timestamp at={Date.parse(skill.deleted_at)} />
            </span>
          ) : (
            <span>
              Updated <Timestamp at={Date.parse(skill.updated_at)} />
            </span>
          )}
          {listSkillCounts(skill).map((words) => (
            <span key={words}>{words}</span>
          ))}
          {skill.tags.slice(0, TAGS_SHOWN).map((tag) => (
            <Box
              component="span"
              key={tag}
              className="wrap-anywhere"
              p="0 0.5rem"
              bdrs={4}
              bg="var(--idle-wash)"
              c="bright"
              fz="xs"
              lh={1.4}
            >
              {tag}
            </Box>
          ))}
          {skill.tags.length > TAGS_SHOWN && <span>and {skill.tags.length - TAGS_SHOWN} more</span>}
        </Group>
      </div>
      <VisibilityChip visibility={skill.visibility} />
      {children && (
        <Group className={`${links.above} ${styles.actions}`} gap="xs" wrap="nowrap">
          {children}
        </Group>
      )}
    </li>
  );
}

const TAGS_SHOWN = 5;

const formatCount = (count: number, noun: string) =>
  count > 0 ? [`${new Intl.NumberFormat().format(count)} ${noun}${count === 1 ? '' : 's'}`] : [];

/** Lists the non-zero counts: "12 views", "3 saves", "1 run". */
export const listSkillCounts = ({ views, saves, uses }: SkillItem): string[] => [
  ...formatCount(views, 'view'),
  ...formatCount(saves, 'save'),
  ...formatCount(uses, 'run'),
];
