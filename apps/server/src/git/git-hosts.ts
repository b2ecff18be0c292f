import { Injectable } from '@nestjs/common';
import {
  AppError,
  gitHost,
  includesScope,
  type GitHost,
  type GitHostChange,
  type GitHostKind,
  type Scope,
} from '@belay/protocol';
import { z } from 'zod';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';
import { repositoryAddress, type RepositoryAddress } from './repository-address.js';
import type { GitRemote } from './smart-http.js';

const saved = z.array(gitHost.omit({ token: true }).extend({ token: z.string().optional() }));
type SavedHost = z.infer<typeof saved>[number];

const maxHosts = 200;

/**
 * The git hosts that the admin configured, with their tokens, which are never returned by an API.
 */
@Injectable()
export class GitHosts {
  readonly #document: Document<typeof saved>;

  constructor(documents: Documents) {
    this.#document = documents.open('git-hosts', saved, []);
  }

  list(): GitHost[] {
    return this.#document.value.map(shown).toSorted((a, b) => a.host.localeCompare(b.host));
  }

  /** Omitted fields keep their values. A change takes effect once it is stored. */
  async set(host: string, change: GitHostChange): Promise<GitHost> {
    await this.#document.change((hosts) => {
      const others = hosts.filter((one) => one.host !== host);
      if (others.length >= maxHosts)
        throw new AppError('limit_reached', `There are ${maxHosts} git hosts. Remove one first.`);
      return [...others, changed(hosts.find((one) => one.host === host) ?? usual(host), change)];
    });
    return this.describe(host);
  }

  async remove(host: string): Promise<void> {
    this.require(host);
    await this.#document.change((hosts) => hosts.filter((one) => one.host !== host));
  }

  /** Throws `not_found` for a host that is not configured. */
  require(host: string): GitHost {
    const found = this.#find(host);
    if (!found) throw new AppError('not_found', `There is no git host ${host}. Add it first.`);
    return shown(found);
  }

  /** The known properties of a host, even if it is not configured. */
  describe(host: string): GitHost {
    return shown(this.#find(host) ?? usual(host));
  }

  /**
   * A repository with the access of a caller of this scope: with its host’s token, if there is one that the scope may
   * use. Throws `invalid_input` for an invalid address.
   */
  remote(url: string, scope: Scope): GitRemote {
    const address = repositoryAddress(url);
    const host = this.#find(hostOf(address));
    const isPlain = address.url.startsWith('http://');
    // A token is sent only as it was configured: with TLS, or without it if that was set explicitly.
    const fits = host !== undefined && host.insecure === isPlain;
    if (isPlain && !fits)
      throw new AppError(
        'invalid_input',
        `${hostOf(address)} is used only over https. An admin may allow http for it under Settings, Git hosts.`,
      );
    const mayUse = fits && host.token !== undefined && includesScope(scope, host.scope);
    return {
      address,
      isTrusted: fits && host.private,
      credential:
        mayUse && host.token !== undefined
          ? { user: host.user ?? users[host.kind], token: host.token }
          : undefined,
    };
  }

  #find(host: string): SavedHost | undefined {
    return this.#document.value.find((one) => one.host === host);
  }
}

function changed(before: SavedHost, { token, ...rest }: GitHostChange): SavedHost {
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  const after: SavedHost = {
    ...before,
    ...Object.fromEntries(given),
    token: token === undefined ? before.token : (token ?? undefined),
  };
  if (after.insecure && !after.private && after.token !== undefined)
    throw new AppError(
      'invalid_input',
      `A token is not sent to ${after.host} without TLS. Use https, or a host of your private network.`,
    );
  return after;
}

/** The host in the form of the configuration: with its port, unless that is the usual one. */
export const hostOf = ({ origin }: Pick<RepositoryAddress, 'origin'>): string =>
  origin.replace(/^https?:\/\//, '');

/** Most hosts accept any name; these are the documented ones. */
const users: Record<GitHostKind, string> = {
  github: 'x-access-token',
  gitlab: 'oauth2',
  gitea: 'oauth2',
  other: 'git',
};

const kinds: ReadonlyMap<string, GitHostKind> = new Map([
  ['github.com', 'github'],
  ['gitlab.com', 'gitlab'],
  ['codeberg.org', 'gitea'],
  ['gitea.com', 'gitea'],
]);

const usual = (host: string): SavedHost => ({
  host,
  kind: kinds.get(host) ?? 'other',
  api: null,
  user: null,
  scope: 'operate',
  private: false,
  insecure: false,
});

const shown = ({ token, ...host }: SavedHost): GitHost => ({
  ...host,
  token: token !== undefined,
});
