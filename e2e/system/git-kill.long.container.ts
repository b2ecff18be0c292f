import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { isEvent } from '@belay/protocol';
import { describeSystem, gitIn, GitServer, put, run, script, start } from '@belay/testkit';
import { until } from '@belay/testing';

describeSystem('a server that is killed with SIGKILL', (server) => {
  const git = new GitServer();
  let bare: string;
  beforeAll(async () => {
    await git.start();
    const source = join(server.data, 'repository');
    put(source, 'README.md', 'Welcome\n');
    gitIn(source, 'init', '-q', '-b', 'main', '--template=');
    gitIn(source, 'add', '.');
    gitIn(source, 'commit', '-q', '-m', 'first');
    bare = git.publish('private/app.git', source);
    const { host, token } = git;
    // Only an admin may use this token, as a restarted server has to know.
    const access = { kind: 'gitea', private: true, insecure: true, scope: 'admin', token } as const;
    await server.client.git.setHost(host, access);
  });
  afterAll(() => git.close());
  afterEach(() => {
    git.intercept = () => false;
  });

  const repository = () => ({ url: git.url('private/app.git') });

  it('during a clone clones again, with the token of the session’s creator', async () => {
    const model = script(server.data, [{ calls: [run('cat README.md')] }, { finish: 'done' }]);
    let isCloning = false;
    git.intercept = (request) => {
      isCloning ||= request.method === 'POST';
      return request.method === 'POST';
    };
    const session = await start(server, { task: 'Read', model, repository: repository() });
    await until('the server clones', () => isCloning);
    await server.end('SIGKILL');
    git.intercept = () => false;
    await server.start();
    session.follow();
    await session.finished();
    await session.printed('Welcome');
    session.close();
  });

  it('after a push and before its log has one commit on the branch, and records it', async () => {
    const model = script(server.data, [
      { calls: [run('echo Hello > README.md')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Write', model, repository: repository() });
    await session.finished();
    const target = { branch: 'agent/killed' };
    const { id } = await server.client.sessions.preparePublish(session.id, target);
    git.intercept = (request, response) => {
      if (request.url?.endsWith('/git-receive-pack')) holdBack(response, () => killed.resolve());
      return false;
    };
    const killed = Promise.withResolvers<void>();
    const request = { ...target, id, message: 'Say hello' };
    const end = killed.promise.then(() => server.end('SIGKILL'));
    await expect(server.client.sessions.publish(session.id, request)).rejects.toThrow();
    await end;
    git.intercept = () => false;
    const tip = gitIn(bare, 'rev-parse', target.branch).trim();
    await server.start();
    expect(await server.client.sessions.publish(session.id, request)).toMatchObject({
      commit: tip,
    });
    expect(gitIn(bare, 'log', '--format=%s', target.branch)).toBe('Say hello\nfirst\n');
    session.follow();
    await session.event((event) => isEvent(event, 'publish'));
    const pushes = session.events.filter((event) => isEvent(event, 'publish'));
    expect(pushes).toMatchObject([{ args: { commit: tip, branch: target.branch } }]);
    session.close();
  });
});

/** Sends nothing of a response; git has done its work when it would end. */
function holdBack(response: ServerResponse, onDone: () => void): void {
  response.writeHead = () => response;
  response.write = () => true;
  response.end = () => {
    onDone();
    return response;
  };
}
