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

/**
 * Pages whose commands are run, in alphabetical order; each starts with only the server’s address
 * and token.
 */
const pages = [
  'access.md',
  'acp.md',
  'chatgpt.md',
  'compare.md',
  'first-action.md',
  'machines.md',
  'mcp-server.md',
  'rest.md',
  'websocket.md',
];

/** Pages whose requests come from a GPT, which may not name a file of the host as its model. */
const ofGpts = ['chatgpt.md'];

/** Pages whose reader answers a question of the agent. */
const asking = ['websocket.md'];
const question = { calls: [{ operation: 'ask', input: { question: 'Which colour?' } }] };

describeSystem('the commands of the docs', (server) => {
  it.each(pages)('%s', async (page) => {
    const model = script(server.data, [
      ...(asking.includes(page) ? [question] : []),
      { calls: [{ operation: 'files.write', input: { path: 'a.txt', content: 'one\n' } }] },
      { finish: 'Done.' },
      // The first finish is refused if the agent has not yet seen what the reader ran.
      { finish: 'Done.' },
    ]);
    const environment = {
      BELAY_URL: server.url,
      BELAY_TOKEN: server.token,
      BELAY_DATA: server.data,
      MODEL: ofGpts.includes(page) ? 'scripted:example:fix-failing-test' : model,
      XDG_DATA_HOME: join(server.data, 'home'),
      XDG_STATE_HOME: join(server.data, 'home'),
    };
    const ran = await runDocsPage(page, { environment });
    expect({ page, ...ran }).toEqual({ page, code: 0, output: ran.output, line: ran.line });
  });

  /** A real clone into a real sandbox, an edit, a push and a pull request. */
  it('git.md', async () => {
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
