import { comparisonOf, emptyForm, missingIn, mostRuns, newSessionsOf } from './session-form';

describe('newSessionsOf', () => {
  it('makes one session for each task and model', () => {
    const form = {
      ...emptyForm,
      tasks: ['One\n---\nwith a rule', ' ', 'Two\n'],
      models: ['a:1', 'b:2'],
    };
    expect(
      newSessionsOf(form, { workspace: 'ws' }).map(({ task, model, workspace }) => [
        task,
        model,
        workspace,
      ]),
    ).toEqual([
      ['One\n---\nwith a rule', 'a:1', 'ws'],
      ['One\n---\nwith a rule', 'b:2', 'ws'],
      ['Two', 'a:1', 'ws'],
      ['Two', 'b:2', 'ws'],
    ]);
  });

  it('parses budgets and lists from typed text', () => {
    const [session] = newSessionsOf(
      {
        ...emptyForm,
        tasks: ['x'],
        models: ['a:1'],
        own: { steps: '', dollars: '0.5', minutes: '2', hosts: 'a.example, b.example:80' },
        tags: 'x  y',
        root: true,
      },
      { workspace: null },
    );
    expect(session).toMatchObject({ tags: ['x', 'y'], sandbox: 'root' });
    // Fields that were not edited are left to the server’s settings.
    expect(session?.budgets).toEqual({ steps: null, dollars: 0.5, seconds: 120 });
    expect(session?.egress).toEqual({ hosts: ['a.example', 'b.example:80'] });
    expect(session).not.toHaveProperty('approvals');
    expect(session).not.toHaveProperty('planFile');
    const kept = { ...emptyForm, tasks: ['x'], models: ['a:1'], keepsPlan: true };
    const files = ['docs/plan.md', ' '].map((planFile) =>
      newSessionsOf({ ...kept, planFile }, { workspace: null }),
    );
    expect(files.map(([first]) => first?.planFile)).toEqual(['docs/plan.md', 'DevinPlan.md']);
  });

  it('names the agent, unless it is Belay’s own', () => {
    const of = (agent: string, small: string) =>
      newSessionsOf(
        { ...emptyForm, tasks: ['x'], models: ['a:1'], agent, small },
        { workspace: null },
      ).map((session) => session.agent);
    expect(of('', 'a:2')).toEqual([undefined]);
    expect(of('other', ' ')).toEqual([{ name: 'other' }]);
    expect(of('other', 'a:2')).toEqual([{ name: 'other', small: 'a:2' }]);
  });
});

describe('comparisonOf', () => {
  const form = { ...emptyForm, tasks: ['x'], models: ['a:1'], agent: 'one', small: 'a:2' };

  it('names several agents with their models', () => {
    const others = [
      { agent: '', model: 'b:1' },
      { agent: 'two', model: 'c:1' },
    ];
    const compared = comparisonOf({ ...form, others, runs: 2 }, { workspace: null });
    expect(compared).toMatchObject({
      runs: 2,
      agents: [
        { name: 'one', small: 'a:2', model: 'a:1' },
        { name: 'belay', model: 'b:1' },
        { name: 'two', model: 'c:1' },
      ],
    });
    expect(compared).not.toHaveProperty('agent');
    expect(compared).not.toHaveProperty('models');
    expect(newSessionsOf({ ...form, others }, { workspace: null })).toMatchObject([
      { agent: { name: 'one' }, model: 'a:1' },
      { model: 'b:1' },
      { agent: { name: 'two' }, model: 'c:1' },
    ]);
    const without = { ...form, others: [{ agent: 'two', model: '' }] };
    expect(missingIn(without)).toBe('Choose a model for each agent first.');
  });

  it('runs an agent that its user signs in to only once', () => {
    const most = (login: boolean) => mostRuns({ models: ['a:1'], others: [], login });
    expect([most(false), most(true)]).toEqual([6, 1]);
  });

  it('keeps the agent where only models differ', () => {
    const compared = comparisonOf({ ...form, models: ['a:1', 'a:2'] }, { workspace: null });
    expect(compared).toMatchObject({ agent: { name: 'one' }, models: ['a:1', 'a:2'] });
  });
});
