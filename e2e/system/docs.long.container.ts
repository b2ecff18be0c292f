import { join } from 'node:path';
import {
  describeSystem,
  gitIn,
  GitServer,
  PullRequestServer,
  put,
  runDocsPage,
  script,
} from '@belay/testkit';
import { describeDocsPages } from './describe-docs-pages.js';

describeDocsPages([
  'access.md',
  'acp.md',
  'chatgpt.md',
  'compare.md',
  'first-action.md',
  'machines.md',
  'rest.md',
  'websocket.md',
]);

describeSystem('the commands of git.md', (server) => {
  /** A real clone into a real sandbox, an edit, a push and a pull request. */
  it('clone, edit, push and open a pull request', async () => {
    const git = await new GitServer().start();
    try {
      const source = join(server.data, 'repository');
      put(source, 'README.md', 'Welcome\n');
      gitIn(source, 'init', '-q', '-b', 'main', '--template=');
      gitIn(source, 'add', '.');
      gitIn(source, 'commit', '-q', '-m', 'first');
      const bare = git.publish('acme/app.git', source);
      const { token } = git;
      const hub = new PullRequestServer('gitea', {
        repository: 'acme/app',
        token,
        page: git.url('').replace(/\/$/, ''),
      });
      git.intercept = (request, response) => hub.handle(request, response);
      // The sandbox has a working copy on its branch, and no token.
      const look =
        'git status --short --branch && git remote get-url origin && git log --format=%s && ! grep -r glpat . && ! env | grep glpat';
      const model = script(server.data, [
        { calls: [{ operation: 'terminal.run', input: { command: look } }] },
        {
          calls: [
            {
              operation: 'files.write',
              input: { path: 'README.md', content: 'Hello\n', overwrite: true },
            },
          ],
        },
        { finish: 'Done.' },
      ]);
      const environment = {
        BELAY_URL: server.url,
        BELAY_TOKEN: server.token,
        BELAY_DATA: server.data,
        GIT_HOST: git.host,
        GIT_TOKEN: token,
        REPOSITORY: git.url('acme/app.git'),
        MODEL: model,
        XDG_STATE_HOME: join(server.data, 'home'),
      };
      const ran = await runDocsPage('git.md', { environment });
      expect(ran).toEqual({ code: 0, output: ran.output, line: ran.line });
      expect(ran.output).toContain('/acme/app/pull/1');
      expect(ran.output).not.toContain(token);
      expect(gitIn(bare, 'log', '--format=%s', 'belay/hello')).toBe('Say hello\nfirst\n');
      expect(gitIn(bare, 'show', 'belay/hello:README.md')).toBe('Hello\n');
      expect(hub.opened).toMatchObject([{ title: 'Say hello', head: 'belay/hello', base: 'main' }]);
      const [session] = await server.client.sessions.list();
      const events = await server.client.sessions.events(session?.id ?? '');
      const looked = JSON.stringify(
        events.find(
          ({ action, args }) => action === 'result' && args['operation'] === 'terminal.run',
        ),
      );
      expect(looked).toContain('main...origin/main');
      expect(looked).toContain('"exitCode":0');
      expect(JSON.stringify(events)).not.toContain(token);
    } finally {
      await git.close();
    }
  });
});
