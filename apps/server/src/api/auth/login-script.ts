/**
 * The page’s part of a login: stores the key for this origin, including the port, and opens the requested page. Any
 * page can send a browser here with a key of its choice, so the server must first confirm that it belongs to a login
 * of this browser. The navigation starts from this page, so the cookie is sent, although it is limited to requests from
 * the same site.
 */
export const loginScript = `(async () => {
  const given = new URLSearchParams(location.hash.slice(1));
  const key = given.get('key');
  if (location.pathname !== '/login' || !key) return;
  history.replaceState(null, '', '/login');
  const headers = { authorization: 'Bearer ' + key };
  const isOurs = await fetch('/api/me', { headers }).then(({ ok }) => ok, () => false);
  if (isOurs) localStorage.setItem('belay-key', key);
  const to = new URL(given.get('to') || '/', location.origin);
  location.replace(to.origin === location.origin ? to.pathname + to.search : '/');
})();
`;
