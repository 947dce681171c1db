import { created, noContent, type Operations, ok } from '@gantry/http';
import type { Request } from 'express';
import { readerOf, signedInOf } from '../access/caller';
import type { Deps } from '../deps';
import { pageOf } from '../page-of';
import { type LibraryRow, libraryItemToApi, libraryToApi } from './library';
import { listInLibrary, listOwnLibraries, listStarters, listSubscribed } from './library-repository';
import {
  addToLibrary,
  changeLibrary,
  createLibrary,
  deleteLibrary,
  getReadableLibrary,
  orderLibrary,
  removeFromLibrary,
  subscribe,
  unsubscribe,
} from './library-service';

export function libraryOperations({ prisma, skillsUrl }: Deps): Operations<'skills'> {
  /** Loads the library as the caller sees it. */
  async function seenBy(req: Request, slug: string) {
    const reader = readerOf(req);
    const library = await getReadableLibrary(prisma, slug, reader);
    return libraryToApi(library, await listInLibrary(prisma, reader, library), skillsUrl);
  }

  const answerCreated = async (req: Request, slug: string) =>
    created(await seenBy(req, slug), { Location: `/api/v1/libraries/${slug}` });

  const toItem = (row: LibraryRow) => libraryItemToApi(row, skillsUrl);

  return {
    listLibraries: async (call) => pageOf(call, await listStarters(prisma, readerOf(call.req), call.query), toItem),
    createLibrary: {
      make: async ({ req, body }) => answerCreated(req, await createLibrary(prisma, signedInOf(req), body)),
      see: ({ req }, slug) => getReadableLibrary(prisma, slug, signedInOf(req)),
      answer: ({ req }, slug) => answerCreated(req, slug),
    },
    getLibrary: async ({ req, path }) => ok(await seenBy(req, path.slug)),
    changeLibrary: async ({ req, path, body }) => {
      await changeLibrary(prisma, signedInOf(req), path.slug, body);
      return ok(await seenBy(req, path.slug));
    },
    deleteLibrary: async ({ req, path }) => deleteLibrary(prisma, signedInOf(req), path.slug).then(noContent),
    addToLibrary: async ({ req, path, body }) => {
      await addToLibrary(prisma, signedInOf(req), path.slug, body.skill_slug);
      return ok(await seenBy(req, path.slug));
    },
    removeFromLibrary: async ({ req, path }) =>
      removeFromLibrary(prisma, signedInOf(req), path.slug, path.skill_slug).then(noContent),
    orderLibrary: async ({ req, path, body }) => {
      await orderLibrary(prisma, signedInOf(req), path.slug, body.skill_slugs);
      return ok(await seenBy(req, path.slug));
    },
    listMyLibraries: async (call) =>
      pageOf(call, await listOwnLibraries(prisma, signedInOf(call.req), call.query), toItem),
    listSubscriptions: async (call) => {
      const person = signedInOf(call.req);
      const rows = await listSubscribed(prisma, person, call.query);
      const skills = await Promise.all(rows.map((row) => listInLibrary(prisma, person, row)));
      return pageOf(call, rows, (row) => libraryToApi(row, skills[rows.indexOf(row)] ?? [], skillsUrl));
    },
    subscribe: async ({ req, body }) => {
      await subscribe(prisma, signedInOf(req), body.library_slug);
      return ok(await seenBy(req, body.library_slug));
    },
    unsubscribe: async ({ req, path }) => unsubscribe(prisma, signedInOf(req), path.slug).then(noContent),
  };
}
