import { actionPermissions, sessionSettings, type ServerService } from '@belay/protocol';
import { checkCall, offeredIn } from './check-call.js';

describe('what a model is offered', () => {
  const named = (egress: object, services: ServerService[]) =>
    offeredIn(sessionSettings.parse({ task: 'x', model: 'scripted:x', egress }), services).map(
      ({ name }) => name,
    );

  it('has no search where the server has none, or the session no network', () => {
    expect(named({}, ['search'])).toContain('web.search');
    expect(named({}, [])).not.toContain('web.search');
    expect(named({ profile: 'none' }, ['search'])).not.toContain('web.search');
    expect(named({ profile: 'none' }, [])).toContain('web.fetch');
  });
});

it('has the report where the session asks for one', () => {
  const named = (settings: object) =>
    offeredIn(sessionSettings.parse({ task: 'x', model: 'scripted:x', ...settings }), []).map(
      ({ name }) => name,
    );
  expect(named({ report: true })).toContain('report');
  expect(named({})).not.toContain('report');
});

describe('the search of the actions', () => {
  const offered = (count: number) =>
    offeredIn(
      sessionSettings.parse({
        task: 'x',
        model: 'scripted:x',
        actions: Array.from({ length: count }, (_, index) => ({
          name: `action-${index}`,
          title: 'An action',
          description: 'It acts.',
          inputSchema: {},
          permissions: actionPermissions.parse({}),
          image: 'sha256:0',
        })),
      }),
      [],
    );

  it('is an operation where there is too much to list; else the name is unknown', () => {
    const search = { query: 'translate' };
    expect(checkCall('actions.search', search, offered(21)).operation.name).toBe('actions.search');
    for (const name of ['actions.search', 'actions.searhc'])
      expect(() => checkCall(name, search, offered(20))).toThrow(`There is no operation ${name}; `);
  });
});

describe('a name that no operation has', () => {
  const settings = sessionSettings.parse({
    task: 'x',
    model: 'scripted:x',
    mcp: [{ server: 'files', name: 'echo', description: '', inputSchema: {} }],
  });
  const offered = offeredIn(settings, []);
  const answer = (name: string): string => {
    try {
      checkCall(name, {}, offered);
      return 'it is one';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each([
    ['apply_patch', 'files.patch'],
    ['functions.exec_command', 'terminal.run'],
    ['Bash', 'terminal.run'],
    ['str_replace_editor', 'files.replace-text'],
    ['TodoWrite', 'plan.update'],
    ['web_fetch_url', 'web.fetch'],
    ['files.raed', 'files.read'],
    ['mcp.files.ecoh', 'mcp.files.echo'],
  ])('of another harness or misspelt is answered with the nearest: %s', (name, nearest) => {
    const message = answer(name);
    expect(message).toMatch(new RegExp(`^There is no operation ${name}\\b.*; `));
    expect(message).toContain(nearest);
    expect(message.match(/\b(?:[a-z]+\.)+[a-z-]+/g)?.length).toBeLessThanOrEqual(5);
  });

  it('that is like none is answered with how to go on, and not with all of them', () => {
    expect(answer('qqq')).toBe(
      'There is no operation qqq; call one of those that you are offered, such as terminal.run.',
    );
    expect(answer('x'.repeat(5_000)).length).toBeLessThan(6_000);
  });
});
