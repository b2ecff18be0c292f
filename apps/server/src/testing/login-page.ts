/** A browser’s half of a login: its cookies, and the key of `/login#…`. */
export interface LoginPage {
  status: number;
  text: string;
  headers: Record<string, string>;
  to: string | null;
}

/** What the server answered to a step of a login, as a browser keeps it. */
export async function loginPageOf(response: Response): Promise<LoginPage> {
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0] ?? '')
    .filter((pair) => !pair.endsWith('='))
    .join('; ');
  const hash = new URLSearchParams(response.headers.get('location')?.split('#')[1]);
  return {
    status: response.status,
    text: await response.text(),
    headers: { cookie, authorization: `Bearer ${hash.get('key') ?? ''}` },
    to: hash.get('to'),
  };
}
