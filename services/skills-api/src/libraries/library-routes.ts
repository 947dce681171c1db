import { created, noContent, type Operations, ok, respondWithSelectedPage } from '@gantry/http';
import type { Request } from 'express';
import { getSignedInPerson, toReader } from '../access/caller';
import type { Deps } from '../deps';
import { type LibraryRow, libraryItemToApi, libraryToApi } from './library';
import {
  listLibrarySkills,
  listOwnLibraries,
  listStarterLibraries,
  listSubscribedLibraries,
} from './library-repository';
import {
  addToLibrary,
  changeLibrary,
  createLibrary,
  deleteLibrary,
  getReadableLibrary,
  removeFromLibrary,
  reorderLibrary,
  subscribe,
  unsubscribe,
} from './library-service';

export function createLibraryOperations({ prisma, skillsUrl }: Deps): Operations<'skills'> {
  /** Loads the library as the caller sees it. */
  async function loadLibrary(req: Request, slug: string) {
    const reader = toReader(req);
    const library = await getReadableLibrary(prisma, slug, reader);
    return libraryToApi(library, await listLibrarySkills(prisma, reader, library), skillsUrl);
  }

  const respondWithCreatedLibrary = async (req: Request, slug: string) =>
    created(await loadLibrary(req, slug), { Location: `/api/v1/libraries/${slug}` });

  const toItem = (row: LibraryRow) => libraryItemToApi(row, skillsUrl);

  return {
    listLibraries: async (call) =>
      respondWithSelectedPage(call, await listStarterLibraries(prisma, toReader(call.req), call.query), toItem),
    createLibrary: {
      create: async ({ req, body }) =>
        respondWithCreatedLibrary(req, await createLibrary(prisma, getSignedInPerson(req), body)),
      assertVisible: ({ req }, slug) => getReadableLibrary(prisma, slug, getSignedInPerson(req)),
      answer: ({ req }, slug) => respondWithCreatedLibrary(req, slug),
    },
    getLibrary: async ({ req, path }) => ok(await loadLibrary(req, path.slug)),
    changeLibrary: async ({ req, path, body }) => {
      await changeLibrary(prisma, getSignedInPerson(req), path.slug, body);
      return ok(await loadLibrary(req, path.slug));
    },
    deleteLibrary: async ({ req, path }) => deleteLibrary(prisma, getSignedInPerson(req), path.slug).then(noContent),
    addToLibrary: async ({ req, path, body }) => {
      await addToLibrary(prisma, getSignedInPerson(req), path.slug, body.skill_slug);
      return ok(await loadLibrary(req, path.slug));
    },
    removeFromLibrary: async ({ req, path }) =>
      removeFromLibrary(prisma, getSignedInPerson(req), path.slug, path.skill_slug).then(noContent),
    orderLibrary: async ({ req, path, body }) => {
      await reorderLibrary(prisma, getSignedInPerson(req), path.slug, body.skill_slugs);
      return ok(await loadLibrary(req, path.slug));
    },
    listMyLibraries: async (call) =>
      respondWithSelectedPage(call, await listOwnLibraries(prisma, getSignedInPerson(call.req), call.query), toItem),
    listSubscriptions: async (call) => {
      const person = getSignedInPerson(call.req);
      const rows = await listSubscribedLibraries(prisma, person, call.query);
      const skills = await Promise.all(rows.map((row) => listLibrarySkills(prisma, person, row)));
      return respondWithSelectedPage(call, rows, (row) =>
        libraryToApi(row, skills[rows.indexOf(row)] ?? [], skillsUrl),
      );
    },
    subscribe: async ({ req, body }) => {
      await subscribe(prisma, getSignedInPerson(req), body.library_slug);
      return ok(await loadLibrary(req, body.library_slug));
    },
    unsubscribe: async ({ req, path }) => unsubscribe(prisma, getSignedInPerson(req), path.slug).then(noContent),
  };
}
