/**
 * The page’s half of a login: keeps the key for this origin, port included, and opens what was asked for. The next page is
 * opened by this one, so a link from anywhere gets the cookie, which is for requests of this site alone.
 */
export const loginScript = `(() => {
  const given = new URLSearchParams(location.hash.slice(1));
  const key = given.get('key');
  if (location.pathname !== '/login' || !key) return;
  history.replaceState(null, '', '/login');
  localStorage.setItem('belay-key', key);
  const to = new URL(given.get('to') || '/', location.origin);
  location.replace(to.origin === location.origin ? to.pathname + to.search : '/');
})();
`;
