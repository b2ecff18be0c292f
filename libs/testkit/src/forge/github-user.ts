import type { PlayedUser } from './forge-records.js';

export const nodeId = (kind: string, id: number): string =>
  Buffer.from(`${kind}:${id}`).toString('base64');

/** A user as GitHub shows one; texts of deleted accounts are those of “ghost”. */
export function githubUser(user: PlayedUser, { site, api }: { site: string; api: string }) {
  const { id, name, kind } = user.isDeleted ? { id: 10137, name: 'ghost', kind: 'person' } : user;
  const url = `${api}/users/${encodeURIComponent(name)}`;
  return {
    login: name,
    id,
    node_id: nodeId('User', id),
    avatar_url: `${site}/avatars/u/${id}?v=4`,
    gravatar_id: '',
    url,
    html_url: `${site}/${kind === 'bot' ? 'apps/' : ''}${name.replace('[bot]', '')}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: kind === 'bot' ? 'Bot' : 'User',
    user_view_type: 'public',
    site_admin: false,
  };
}
