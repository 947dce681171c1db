import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { SkillItem } from '../shell/api';
import { skillPath } from '../shell/paths';
import { Timestamp } from '../ui/timestamp';
import styles from './skill-row.module.css';
import { VisibilityChip } from './visibility';

interface SkillRowProps {
  skill: SkillItem;
  /** Instead of the plain ones: where words that were searched for are marked. */
  title?: ReactNode;
  description?: ReactNode;
  /** Buttons. */
  children?: ReactNode;
}

/** A skill in a list: its name leads to it, or nowhere where it was deleted. */
export function SkillRow({ skill, title = skill.title, description = skill.description, children }: SkillRowProps) {
  return (
    <li className={styles.row}>
      <div className={styles.what}>
        {skill.deleted_at ? (
          <span className={styles.name}>{title}</span>
        ) : (
          <Link className={styles.name} to={skillPath(skill.slug)}>
            {title}
          </Link>
        )}
        {description && <p className={styles.description}>{description}</p>}
        <p className={styles.facts}>
          {!skill.owned && <span>By {skill.owner.name ?? 'somebody'}</span>}
          {skill.deleted_at ? (
            <span>
              Deleted <Timestamp at={Date.parse(skill.deleted_at)} />
            </span>
          ) : (
            <span>
              Changed <Timestamp at={Date.parse(skill.updated_at)} />
            </span>
          )}
          {countsOf(skill).map((words) => (
            <span key={words}>{words}</span>
          ))}
          {skill.tags.slice(0, TAGS_SHOWN).map((tag) => (
            <span key={tag} className={styles.tag}>
              {tag}
            </span>
          ))}
          {skill.tags.length > TAGS_SHOWN && <span>and {skill.tags.length - TAGS_SHOWN} more</span>}
        </p>
      </div>
      <VisibilityChip visibility={skill.visibility} />
      {children && <div className={styles.actions}>{children}</div>}
    </li>
  );
}

const TAGS_SHOWN = 5;

const counted = (count: number, noun: string) =>
  count > 0 ? [`${new Intl.NumberFormat().format(count)} ${noun}${count === 1 ? '' : 's'}`] : [];

/** "12 views", "3 saves", "1 run": those that are not none. */
export const countsOf = ({ views, saves, uses }: SkillItem): string[] => [
  ...counted(views, 'view'),
  ...counted(saves, 'save'),
  ...counted(uses, 'run'),
];
