import type { LibraryRow } from '../libraries/library';
import { type Html, html } from '../rendering/html';
import { type SearchHit, toSegments } from '../search/search-skills';
import type { SkillRow } from '../skills/skill';
import { dayOf, ownerName } from './skill-page';

export function skillList(skills: SkillRow[]): Html {
  return html`<ul class="cards">${skills.map(
    (skill) => html`<li>
<h3 dir="auto"><a href="/s/${skill.slug}">${skill.title}</a></h3>
${skill.description && html`<p dir="auto">${skill.description}</p>`}
<p class="facts">By ${ownerName(skill)} · ${dayOf(skill.updated_at)}</p>
</li>
`,
  )}</ul>`;
}

export function hitList(hits: SearchHit[]): Html {
  return html`<ul class="cards">${hits.map(
    (hit) => html`<li>
<h3 dir="auto"><a href="/s/${hit.slug}">${marked(hit.title_marked)}</a></h3>
<p dir="auto">${marked(hit.excerpt_marked)}</p>
<p class="facts">By ${ownerName(hit)} · ${dayOf(hit.updated_at)}</p>
</li>
`,
  )}</ul>`;
}

export function libraryList(libraries: LibraryRow[]): Html {
  return html`<ul class="cards">${libraries.map(
    (library) => html`<li>
<h3 dir="auto"><a href="/l/${library.slug}">${library.title}</a></h3>
<p dir="auto">${library.description}</p>
<p class="facts">${countOf(library.skill_count, 'skill')}</p>
</li>
`,
  )}</ul>`;
}

export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const marked = (text: string): Html[] =>
  toSegments(text).map((segment) => (segment.matched ? html`<mark>${segment.text}</mark>` : html`${segment.text}`));
