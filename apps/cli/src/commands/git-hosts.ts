import type { GitHost, GitHostChange } from '@belay/protocol';
import { clientFor, type PrintOptions, type Where } from '../connection.js';
import { outputTo } from '../output.js';
import { readSecret } from '../secret-input.js';
import { printList } from '../print-list.js';

interface HostOptions extends Where {
  token?: boolean;
  kind?: GitHost['kind'];
  api?: string;
  user?: string;
  scope?: GitHost['scope'];
  private?: boolean;
  insecure?: boolean;
}

/** `belay git`: one line per host. */
export async function listGitHosts(options: PrintOptions): Promise<void> {
  printList(await clientFor(options).git.hosts(), options, {
    empty:
      'No git hosts yet; public repositories can be cloned. Add one: belay git set github.com --token',
    row: ({ host, kind, token, scope, private: isPrivate, insecure }) => [
      host,
      kind,
      token ? `token for ${scope}` : 'no token',
      [isPrivate && 'private network', insecure && 'without TLS'].filter(Boolean).join(', '),
    ],
  });
}

/** `belay git set`. */
export async function setGitHost(host: string, options: HostOptions): Promise<void> {
  const { token, kind, api, user, scope, private: isPrivate, insecure } = options;
  const client = clientFor(options);
  const secret =
    token === true
      ? await readSecret('Token: ', 'No token was given.')
      : token === false
        ? null
        : undefined;
  const change: GitHostChange = {
    ...(secret !== undefined && { token: secret }),
    ...(kind && { kind }),
    ...(api !== undefined && { api }),
    ...(user !== undefined && { user }),
    ...(scope && { scope }),
    ...(isPrivate !== undefined && { private: isPrivate }),
    ...(insecure !== undefined && { insecure }),
  };
  const saved = await client.git.setHost(host, change);
  outputTo(process.stderr).line(
    `Saved ${saved.host} (${saved.kind}, ${saved.token ? 'with a token' : 'no token'}).`,
  );
}

/** `belay git test`. */
export async function testGitHost(host: string, options: Where): Promise<void> {
  const { user } = await clientFor(options).git.testHost(host);
  outputTo(process.stdout).line(`The token of ${host} belongs to ${user}.`);
}

/** `belay git remove`. */
export async function removeGitHost(host: string, options: Where): Promise<void> {
  await clientFor(options).git.removeHost(host);
  outputTo(process.stderr).line(`Removed ${host}.`);
}
