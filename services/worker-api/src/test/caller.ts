import request from 'supertest';

/** Calls the service with the credential, or anonymously without one. @param url or the app of a replica */
export function createCaller(url: Parameters<typeof request>[0], credential?: string) {
  const as = credential === undefined ? {} : { Authorization: `Bearer ${credential}` };
  return {
    get: (path: string) => request(url).get(path).set(as),
    post: (path: string, body?: object) => request(url).post(path).set(as).send(body),
    put: (path: string, body: object) => request(url).put(path).set(as).send(body),
    patch: (path: string, body: object) => request(url).patch(path).set(as).send(body),
    remove: (path: string) => request(url).delete(path).set(as),
  };
}
