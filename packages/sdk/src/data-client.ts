import type { SurfacePaths } from '@gantry/openapi';
import type { Client, ClientPathsWithMethod, MaybeOptionalInit, MethodResponse } from 'openapi-fetch';
import { unwrap } from './api-error';
import type { Clients } from './clients';

const METHODS = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'] as const;

type Method = (typeof METHODS)[number];

type DataMethod<Paths extends object, Verb extends Lowercase<Method>> = <
  Path extends ClientPathsWithMethod<Client<Paths>, Verb>,
  Init extends MaybeOptionalInit<Paths[Path], Verb & keyof Paths[Path]>,
>(
  path: Path,
  ...init: undefined extends Init ? [init?: Init] : [init: Init]
) => Promise<MethodResponse<Client<Paths>, Verb, Path, Init>>;

/** The methods of a client, which return the data of the response. @throws ApiError for anything but 2xx */
export type DataClient<Paths extends object> = { [Name in Method]: DataMethod<Paths, Lowercase<Name>> };

export type DataClients = { [Surface in keyof Clients]: DataClient<SurfacePaths<Surface>> };

/** Creates a client that unwraps each response. @param getClient called for each request */
export function createDataClient<Paths extends object>(getClient: () => Promise<Client<Paths>>): DataClient<Paths> {
  const createMethod =
    (name: Method) =>
    async (...request: unknown[]) => {
      const client = (await getClient()) as unknown as Record<Method, UntypedMethod>;
      return unwrap(client[name](...request));
    };
  return Object.fromEntries(METHODS.map((name) => [name, createMethod(name)])) as unknown as DataClient<Paths>;
}

type UntypedMethod = (...request: unknown[]) => Parameters<typeof unwrap>[0];
