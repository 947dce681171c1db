/** Headers of `fetch` as `safeFetch` takes them. */
export function plainHeaders(given: RequestInit['headers']): Record<string, string> {
  const plain: Record<string, string> = {};
  new Headers(given).forEach((value, name) => {
    plain[name] = value;
  });
  return plain;
}
