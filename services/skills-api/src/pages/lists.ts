import type { LibraryRow } from '../libraries/library';
import { type Html, html } from '../rendering/html';
import { type SearchHit, toSegments } from '../skills/search-skills';
import type { SkillRow } from '../skills/skill';
import { formatByline, formatDay } from './skill-page';

/** @param level of the headings: one below that of the surrounding section */
export function renderSkillList(skills: SkillRow[], level: 2 | 3): Html {
  return html`<ul class="cards">${skills.map(
    (skill) => html`<li>
${renderHeading(level, html`<a href="/s/${skill.slug}">${skill.title}</a>`)}
${skill.description && html`<p dir="auto">${skill.description}</p>`}
<p class="facts">${formatByline(skill)}${formatDay(skill.updated_at)}</p>
</li>
`,
  )}</ul>`;
}

export function renderHitList(hits: SearchHit[]): Html {
  return html`<ul class="cards">${hits.map(
    (hit) => html`<li>
${renderHeading(2, html`<a href="/s/${hit.slug}">${highlightMatches(hit.title_marked)}</a>`)}
<p dir="auto">${highlightMatches(hit.excerpt_marked)}</p>
<p class="facts">${formatByline(hit)}${formatDay(hit.updated_at)}</p>
</li>
`,
  )}</ul>`;
}

export function renderLibraryList(libraries: LibraryRow[]): Html {
  return html`<ul class="cards">${libraries.map(
    (library) => html`<li>
${renderHeading(3, html`<a href="/l/${library.slug}">${library.title}</a>`)}
<p dir="auto">${library.description}</p>
<p class="facts">${formatCount(library.skill_count, 'skill')}</p>
</li>
`,
  )}</ul>`;
}

const renderHeading = (level: 2 | 3, content: Html): Html =>
  level === 2 ? html`<h2 dir="auto">${content}</h2>` : html`<h3 dir="auto">${content}</h3>`;

export const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const highlightMatches = (text: string): Html[] =>
  toSegments(text).map((segment) => (segment.matched ? html`<mark>${segment.text}</mark>` : html`${segment.text}`));
