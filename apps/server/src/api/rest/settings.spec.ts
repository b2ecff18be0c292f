import type { SessionDefaults } from '@belay/protocol';
import { TestServer } from '../../testing/server.js';

const builtIn: SessionDefaults = {
  budgets: { steps: 100, tokens: null, dollars: null, seconds: null },
  egress: { profile: 'packages', hosts: [] },
  approvals: 'ask',
};

describe('the settings for new sessions', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  const read = () => server.json('GET', '/api/settings');
  const change = (body: object) => server.json('PATCH', '/api/settings', body);

  it('are the built-in ones until they are changed, which a restart keeps', async () => {
    expect(await read()).toEqual({ status: 200, ...builtIn });
    await change({ budgets: { dollars: 2 }, egress: { profile: 'list' } });
    await change({ egress: { hosts: ['api.example:443'] }, approvals: 'delay' });
    const changed = {
      budgets: { ...builtIn.budgets, dollars: 2 },
      egress: { profile: 'list', hosts: ['api.example:443'] },
      approvals: 'delay',
    };
    expect(await read()).toMatchObject(changed);
    await server.restart();
    expect(await read()).toMatchObject(changed);
  });

  it('apply to values that a new session leaves out, and not to existing sessions', async () => {
    await change({
      budgets: { steps: 7, dollars: 2 },
      egress: { profile: 'none', hosts: ['a.b'] },
    });
    const silent = await server.session();
    const own = await server.session({
      approvals: 'auto',
      budgets: { dollars: null },
      egress: { profile: 'open' },
    });
    await change({ budgets: { steps: null } });
    expect(await server.log.settings(silent)).toMatchObject({
      budgets: { steps: 7, dollars: 2 },
      egress: { profile: 'none', hosts: ['a.b'] },
      approvals: 'delay',
    });
    expect(await server.log.settings(own)).toMatchObject({
      budgets: { steps: 7, dollars: null },
      egress: { profile: 'open', hosts: ['a.b'] },
      approvals: 'auto',
    });
  });

  it('are read by a viewer and set by the user', async () => {
    const token = server.viewerToken;
    expect((await server.fetch('/api/settings', { token })).status).toBe(200);
    const refused = await server.fetch('/api/settings', { token, method: 'PATCH' });
    expect(refused.status).toBe(403);
  });

  it.each([{ budgets: { steps: 0 } }, { approvals: 'never' }, { egress: { profile: 'some' } }])(
    '%j is refused and changes nothing',
    async (broken) => {
      const before = await read();
      expect(await change(broken)).toMatchObject({ status: 400, code: 'invalid_input' });
      expect(await read()).toEqual(before);
    },
  );
});
