/**
 * The page’s part of a login: stores the key for this origin, including the port, and opens the requested page. The
 * navigation starts from this page, so the cookie is sent, although it is limited to requests from the same site.
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
