import { PullRequestServer, put } from '@belay/testkit';
import { GitScene } from './git-scene.js';

type Kind = 'github' | 'gitlab' | 'gitea';
export const pullRequestPage = 'https://git.example.com';

/** A git server with a server of pull requests beside it. */
export class PullRequestScene extends GitScene {
  /** Pull requests are answered as by a host of this kind, for the repository of a session. */
  readonly hubOf = async (kind: Kind, url: string, fork?: string) => {
    const { git, belay } = this;
    const repository = new URL(url).pathname.slice(1).replace('.git', '');
    const options = { repository, fork, token: git.token, page: pullRequestPage };
    const hub = new PullRequestServer(kind, options);
    git.intercept = (request, response) => hub.handle(request, response);
    await belay.json('PUT', `/api/git/hosts/${git.host}`, { kind });
    return { hub, repository };
  };

  /** A session with a pull request, and how the API shows it. */
  readonly withPullRequest = async (kind: Kind) => {
    const { session, url } = await this.cloned();
    const { hub } = await this.hubOf(kind, url);
    this.edit((work) => put(work, 'a.txt', 'a\n'));
    const { id } = await this.prepare(session, { branch: 'x' });
    const pullRequest = { title: 'Add a' };
    await this.publish(session, { branch: 'x', id, message: 'm', pullRequest });
    const path = `/api/sessions/${session}/pull-request`;
    return { hub, path, shown: () => this.belay.json('GET', path) };
  };

  forgetHub(): void {
    this.git.intercept = () => false;
  }
}
