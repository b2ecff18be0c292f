import { Injectable } from '@nestjs/common';
import { GitHosts } from '../../../git/git-hosts.js';
import { SmartHttp } from '../../../git/smart-http.js';
import type { Forge } from '../../forges/forge.js';
import { branchList } from './branch-lists.js';
import { giteaLists } from './gitea-lists.js';
import { githubLists } from './github-lists.js';
import { gitlabLists } from './gitlab-lists.js';
import { PollCursorRows } from './poll-cursor-rows.js';
import type { PolledList } from './polled-lists.js';
import { pullLists } from './pull-lists.js';

const ofKind = { github: githubLists, gitlab: gitlabLists, gitea: giteaLists } as const;

/** What is polled of each kind of host, where it goes on, and what is left alone for a while. */
@Injectable()
export class PollLists {
  readonly #branches: PolledList;
  readonly #pauses = new Map<string, number>();

  constructor(
    readonly cursors: PollCursorRows,
    hosts: GitHosts,
    smart: SmartHttp,
  ) {
    this.#branches = branchList(hosts, smart);
  }

  of(kind: Forge['kind']): readonly PolledList[] {
    // A review is learned of before its comments.
    return [...pullLists, ...ofKind[kind], this.#branches];
  }

  /** Leaves a source alone until then. */
  pause(source: string, until: Date): void {
    this.#pauses.set(source, until.getTime());
  }

  isPaused(source: string, now: Date): boolean {
    return (this.#pauses.get(source) ?? 0) > now.getTime();
  }
}
