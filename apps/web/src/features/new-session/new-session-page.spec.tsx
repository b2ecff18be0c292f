import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { AppError, sessionDefaults } from '@belay/protocol';
import { itLong, sampled } from '@belay/testing';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { chooseFolder } from '@/testing/choose-folder';
import { renderWeb, type RenderOptions } from '@/testing/render-web';
import { submitByKeys } from '@/lib/submit-by-keys';
import { summaryWith } from '@/testing/session-log';
import { NewSessionPage } from './new-session-page';

const model = (name: string, ready = true) => ({ name, title: name, ready, remedy: null });
const models = [
  model('scripted:example:hello'),
  model('openai:small'),
  model('google:large'),
  model('anthropic:none', false),
];

const replies = {
  models: { list: () => models },
  server: {
    examples: () => [
      { name: 'hello', title: 'Say hello', task: 'Hello', model: 'scripted:example:hello' },
    ],
  },
  settings: { read: () => sessionDefaults.parse({}) },
  mcp: { list: () => [] },
  actions: { list: () => [] },
  agents: { list: () => [] },
  sessions: { create: () => summaryWith({ id: 'new' }) },
} satisfies RenderOptions['replies'];

const show = async (options: RenderOptions = {}) => {
  const form = (
    <>
      <NewSessionPage />
      <QuestionDialog />
    </>
  );
  const page = await renderWeb(form, { path: '/new', replies, ...options });
  await waitFor(() => expect(page.rest.sentTo('settings.read')).toHaveLength(1));
  await screen.findByRole('textbox', { name: 'Task' });
  return page;
};
const write = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const box = (name: string | RegExp) => screen.findByRole('checkbox', { name });
const start = (name: string | RegExp = 'Start') => screen.findByRole('button', { name });
const click = async (element: Promise<HTMLElement>) => {
  const found = await element;
  await act(async () => fireEvent.click(found));
};

const emptyComparison = {
  id: 'c',
  created: '2026-01-01T00:00:00Z',
  task: 'Fix',
  check: null,
  sessions: [],
  failed: [],
  kept: null,
};

// As in the app.
let stopKeys = (): void => undefined;
beforeAll(() => {
  stopKeys = submitByKeys();
});
afterAll(() => stopKeys());

describe('the form for a new session', () => {
  it('starts a session with the first available model and opens it', async () => {
    const { rest, pathname } = await show();
    expect(await box('openai:small')).toHaveProperty('checked', true);
    write('Task', ' Fix the tests ');
    await click(start());
    await waitFor(() => expect(pathname()).toBe('/sessions/new'));
    expect(rest.bodiesOf('sessions.create')).toEqual([
      {
        task: 'Fix the tests',
        model: 'openai:small',
        image: null,
        workspace: null,
        budgets: {},
        egress: {},
        trust: false,
        tags: [],
      },
    ]);
  });

  it.each(sampled(1, [{ ctrlKey: true }, { metaKey: true }]))(
    'starts with %j and Enter',
    async (keys) => {
      const { rest } = await show();
      await box('openai:small');
      write('Task', 'Fix');
      fireEvent.keyDown(screen.getByLabelText('Task'), { key: 'Enter' });
      expect(rest.sentTo('sessions.create')).toEqual([]);
      fireEvent.keyDown(screen.getByLabelText('Task'), { key: 'Enter', ...keys });
      await waitFor(() => expect(rest.sentTo('sessions.create')).toHaveLength(1));
    },
  );

  it('does not start without a task', async () => {
    const { rest } = await show();
    await box('openai:small');
    await click(start());
    expect(screen.getByLabelText('Task')).toHaveProperty('validity.valueMissing', true);
    expect(rest.sentTo('sessions.create')).toEqual([]);
  });

  it('does not start without a model and explains why', async () => {
    const noModels = { ...replies, models: { list: () => [model('anthropic:none', false)] } };
    const { rest, pathname } = await show({ replies: noModels });
    await screen.findByText(/^Choose a model first\./);
    await screen.findByText(/1 more model needs a key/);
    write('Task', 'Fix');
    expect(await start()).toHaveProperty('disabled', true);
    const task = screen.getByLabelText('Task');
    await act(async () => fireEvent.keyDown(task, { key: 'Enter', ctrlKey: true }));
    expect(pathname()).toBe('/new');
    expect(rest.sentTo('sessions.create')).toEqual([]);
  });

  it.each(
    sampled(1, [
      ['its one session', ['Fix']],
      ['each of several sessions, without storing it', ['Fix', 'Test']],
    ]),
  )('sends a folder into the sandbox of %s', async (_, tasks) => {
    const uploads = { toSession: () => undefined };
    const { rest } = await show({ replies: { ...replies, uploads } });
    await box('openai:small');
    write('Task', 'Fix');
    for (const [at, task] of tasks.slice(1).entries()) {
      await click(screen.findByRole('button', { name: 'Add task' }));
      write(`Task ${at + 2}`, task);
    }
    await chooseFolder({ 'a.txt': 'hello' });
    await click(start(/^Start/));
    await waitFor(() => expect(rest.sentTo('uploads.toSession')).toHaveLength(tasks.length));
    expect(rest.bodiesOf('sessions.create')).toMatchObject(
      tasks.map(() => ({ workspace: 'upload' })),
    );
    expect(rest.sentTo('uploads.workspace')).toEqual([]);
    for (const sent of rest.sentTo('uploads.toSession')) {
      expect(sent.params).toEqual({ id: 'new' });
      expect(sent.query).toEqual({ bytes: '2048' });
      expect(await (sent.body as Blob).text()).toMatch(/^a\.txt\0.*hello/s);
    }
  });

  itLong('stores a folder once for more sessions than are sent to at a time', async () => {
    const uploads = { workspace: () => ({ workspace: 'stored' }) };
    const comparisons = { create: () => emptyComparison };
    const { rest, pathname } = await show({ replies: { ...replies, uploads, comparisons } });
    await box('openai:small');
    write('Task', 'Fix');
    write(/^Runs per model/, '5');
    await chooseFolder({ 'a.txt': 'hello' });
    await click(start('Start 5 sessions'));
    await waitFor(() => expect(pathname()).toBe('/compare/c'));
    expect(rest.sentTo('uploads.workspace')).toHaveLength(1);
    expect(rest.bodiesOf('comparisons.create')).toMatchObject([{ workspace: 'stored' }]);
  });

  it('shows what of a folder is sent and what git ignores', async () => {
    await show();
    await chooseFolder({ 'a.txt': 'hello', '.gitignore': '.env\n', '.env': 'SECRET=abc' });
    await screen.findByText('app: 2 files, 10 B');
    expect(
      within(screen.getByRole('region', { name: 'Files that are sent' })).queryByText('.env'),
    ).toBeNull();
    within(screen.getByRole('region', { name: 'Ignored files and folders' })).getByText('.env');
    expect(screen.queryByRole('alert')).toBeNull();
  });

  itLong('warns of files that look like secrets, and leaves them out', async () => {
    const uploads = { toSession: () => undefined };
    const { rest } = await show({ replies: { ...replies, uploads } });
    await box('openai:small');
    write('Task', 'Fix');
    await chooseFolder({ 'a.txt': 'hello', '.env': 'SECRET=abc' });
    expect((await screen.findByRole('alert')).textContent).toContain('1 file looks like secrets.');
    await click(screen.findByRole('button', { name: 'Leave them out' }));
    await screen.findByText('app: 1 file, 5 B');
    await click(start());
    await waitFor(() => expect(rest.sentTo('uploads.toSession')).toHaveLength(1));
    expect(await (rest.bodiesOf('uploads.toSession')[0] as Blob).text()).not.toContain('SECRET');
  });

  itLong('sends pictures with the task, and refuses other files', async () => {
    const bitmap = async (file: Blob) => {
      if (file.type === 'image/png') return { width: 1, height: 1 };
      throw new Error('Not a picture.');
    };
    Object.assign(globalThis, { createImageBitmap: bitmap });
    const blob = 'a'.repeat(64);
    const { rest } = await show({ replies: { ...replies, uploads: { blob: () => ({ blob }) } } });
    await box('openai:small');
    write('Task', 'Make it look like this');
    const paste = (file: File) =>
      fireEvent.paste(screen.getByLabelText('Task'), { clipboardData: { files: [file] } });
    paste(new File(['x'], 'notes.txt', { type: 'text/plain' }));
    await click(start());
    await screen.findByText(/^notes\.txt is not a picture/);
    expect(rest.sentTo('sessions.create')).toEqual([]);
    await click(screen.findByRole('button', { name: 'Remove notes.txt' }));
    paste(new File(['x'], 'sketch.png', { type: 'image/png' }));
    await click(start());
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.create')).toMatchObject([{ images: [blob] }]),
    );
  });

  itLong('completes files of the chosen folder in a task after @', async () => {
    await show();
    const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Task' });
    write('Task', 'Fix @a');
    expect(screen.queryByRole('listbox')).toBeNull();
    await chooseFolder({ 'src/a.ts': '', 'b.ts': '' });
    write('Task', 'Fix @src');
    const list = await screen.findByRole('listbox', { name: 'Files' });
    expect(within(list).getAllByRole('option')).toHaveLength(1);
    fireEvent.keyDown(field, { key: 'Enter' });
    expect(field.value).toBe('Fix @src/a.ts ');
    expect(screen.queryByRole('listbox')).toBeNull();
    // There are no commands before there is a session.
    write('Task', '/st');
    expect(screen.queryByRole('listbox')).toBeNull();
  });

  itLong('does not start with a folder that is not chosen', async () => {
    await show();
    await box('openai:small');
    await click(screen.findByRole('radio', { name: 'My folder' }));
    expect(await start()).toHaveProperty('disabled', true);
    screen.getByText('Choose a folder first.');
  });

  it('starts with a clone of a repository', async () => {
    const { rest } = await show();
    await box('openai:small');
    write('Task', 'Fix');
    await click(screen.findByRole('radio', { name: 'Git repository' }));
    const wanted = { url: 'https://example.com/app', branch: 'next', commit: 'a1'.repeat(20) };
    write(/^Repository/, ` ${wanted.url} `);
    write('Branch', wanted.branch);
    write('Commit', ` ${wanted.commit} `);
    await click(start());
    await waitFor(() => expect(rest.sentTo('sessions.create')).toHaveLength(1));
    const [sent] = rest.bodiesOf('sessions.create');
    expect(sent).toMatchObject({ workspace: null, repository: wanted });
  });

  itLong('shares host folders for an admin and does not remember them', async () => {
    const { rest } = await show();
    await box('openai:small');
    write('Task', 'Fix');
    fireEvent.click(screen.getByText(/^More:/));
    fireEvent.change(await screen.findByLabelText(/^Host folders/), {
      target: { value: '/srv/data:ro\n\n /srv/out ' },
    });
    await click(start());
    await waitFor(() => expect(rest.sentTo('sessions.create')).toHaveLength(1));
    expect(rest.bodiesOf('sessions.create')).toMatchObject([
      {
        mounts: [
          { folder: '/srv/data', readOnly: true },
          { folder: '/srv/out', readOnly: false },
        ],
      },
    ]);
    expect(localStorage.getItem('belay.new-session')).not.toContain('/srv');
  });

  itLong('starts one session for each task and model, and then shows the fleet', async () => {
    const { rest, pathname } = await show();
    fireEvent.click(await box('openai:small'));
    fireEvent.click(await box('openai:small'));
    fireEvent.click(await box('google:large'));
    write('Task', 'One');
    fireEvent.click(screen.getByRole('button', { name: 'Add task' }));
    write('Task 2', 'Two');
    await click(start('Start 4 sessions'));
    await waitFor(() => expect(pathname()).toBe('/'));
    expect(
      rest.bodiesOf('sessions.create').map((body) => Object.values(body as object).slice(0, 2)),
    ).toEqual([
      ['One', 'openai:small'],
      ['One', 'google:large'],
      ['Two', 'openai:small'],
      ['Two', 'google:large'],
    ]);
  });

  itLong('compares several models, or runs of one, on one task', async () => {
    const comparisons = { create: () => emptyComparison };
    const { rest, pathname } = await show({ replies: { ...replies, comparisons } });
    fireEvent.click(await box('google:large'));
    write('Task', 'Fix');
    write(/^Runs per model/, '3');
    write(/^Check command/, ' npm test ');
    await click(start('Start 6 sessions'));
    await waitFor(() => expect(pathname()).toBe('/compare/c'));
    expect(rest.sentTo('sessions.create')).toEqual([]);
    expect(rest.bodiesOf('comparisons.create')).toMatchObject([
      { task: 'Fix', models: ['openai:small', 'google:large'], runs: 3, check: 'npm test' },
    ]);
  });

  itLong('can be filled from a template and saved as one', async () => {
    const release = {
      name: 'Release',
      task: 'Write the notes',
      model: 'google:large',
      check: 'npm test',
      approvals: 'auto' as const,
      budgets: { dollars: 2, seconds: 90 },
      egress: { profile: 'none' as const },
    };
    const templates = {
      list: () => [release],
      save: ({ params, body }: { params: { name: string }; body: object }) => ({
        ...release,
        ...body,
        name: params.name,
      }),
    };
    const { rest } = await show({ replies: { ...replies, templates } });
    fireEvent.change(await screen.findByRole('combobox', { name: 'Template' }), {
      target: { value: 'Release' },
    });
    expect(screen.getByLabelText('Task')).toHaveProperty('value', 'Write the notes');
    expect(await box('google:large')).toHaveProperty('checked', true);
    expect(screen.getByLabelText(/^Approvals/)).toHaveProperty('value', 'auto');
    expect(screen.getByLabelText(/^Time limit/)).toHaveProperty('value', '1.5');
    await click(screen.findByRole('button', { name: 'Save as template…' }));
    const name = await screen.findByLabelText('Name');
    fireEvent.change(name, { target: { value: 'Release 2' } });
    await click(screen.findByRole('button', { name: 'Save' }));
    await waitFor(() => expect(rest.sentTo('templates.save')).toHaveLength(1));
    const { name: _, ...content } = release;
    expect(rest.sentTo('templates.save')).toMatchObject([
      { params: { name: 'Release 2' }, body: content },
    ]);
  });

  itLong(
    'does not start remembered models that are unavailable, and lists all that it starts',
    async () => {
      const models = ['openai:small', 'ollama:gone', 'google:large'];
      await show({ storage: { 'belay.new-session': JSON.stringify({ models }) } });
      const chosen = within(await screen.findByRole('list', { name: 'Chosen models' }));
      expect(chosen.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
        'openai:small',
        'google:large',
      ]);
      write('Task', 'Fix');
      await start('Start 2 sessions');
      fireEvent.click(chosen.getByRole('button', { name: 'Remove google:large' }));
      expect(screen.queryByRole('list', { name: 'Chosen models' })).toBeNull();
      await start('Start');
    },
  );

  itLong('adds a model by name on Enter without submitting the form', async () => {
    const { rest } = await show();
    write('Task', 'Fix');
    await box('openai:small');
    write('Add a model', 'openai:mine');
    // `fireEvent` returns false if the default, which would submit the form, was prevented.
    expect(fireEvent.keyDown(screen.getByLabelText('Add a model'), { key: 'Enter' })).toBe(false);
    expect(await box('openai:mine')).toHaveProperty('checked', true);
    expect(rest.sentTo('sessions.create')).toEqual([]);
  });

  itLong('says at the field what is wrong with a model, and takes the suggestion', async () => {
    const { rest } = await show();
    await box('openai:small');
    write('Add a model', 'smal');
    fireEvent.keyDown(screen.getByLabelText('Add a model'), { key: 'Enter' });
    expect((await screen.findByRole('alert')).textContent).toContain(
      'There is no model “smal”. Write provider:model with one of openai, anthropic, google.',
    );
    expect(screen.queryByRole('checkbox', { name: 'smal' })).toBeNull();
    write('Add a model', 'larg');
    fireEvent.keyDown(screen.getByLabelText('Add a model'), { key: 'Enter' });
    await click(screen.findByRole('button', { name: 'Use google:large' }));
    expect(await box('google:large')).toHaveProperty('checked', true);
    expect(screen.queryByRole('alert')).toBeNull();
    expect(rest.sentTo('sessions.create')).toEqual([]);
  });

  itLong('says what a provider needs before its models can be added', async () => {
    await show();
    await box('openai:small');
    write('Add a model', 'anthropic:other');
    fireEvent.blur(screen.getByLabelText('Add a model'));
    expect((await screen.findByRole('alert')).textContent).toBe('anthropic is not set up.');
  });

  itLong('keeps its values and shows the error when the server refuses', async () => {
    const create = () => {
      throw new AppError('conflict', 'The engine is not running. Start Docker.');
    };
    const { pathname } = await show({ replies: { ...replies, sessions: { create } } });
    await box('openai:small');
    write('Task', 'Fix');
    await click(start());
    await screen.findByText('The engine is not running. Start Docker.');
    expect(pathname()).toBe('/new');
    expect(screen.getByLabelText('Task')).toHaveProperty('value', 'Fix');
    expect(await start()).toHaveProperty('disabled', false);
  });

  itLong('runs an example with its scripted model', async () => {
    const onlyPlayed = { ...replies, models: { list: () => models.slice(0, 1) } };
    const { rest } = await show({
      path: '/new?example=hello&task=Say+hello',
      replies: onlyPlayed,
    });
    expect(await box('scripted:example:hello')).toHaveProperty('checked', true);
    await click(start());
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.create')).toMatchObject([
        { task: 'Say hello', model: 'scripted:example:hello', workspace: 'example:hello' },
      ]),
    );
  });
});

describe('the further options', () => {
  it('show the server’s settings and send only what was changed', async () => {
    const read = () =>
      sessionDefaults.parse({ budgets: { steps: 40, dollars: 2 }, approvals: 'delay' });
    const { rest } = await show({ replies: { ...replies, settings: { read } } });
    await box('openai:small');
    expect(await screen.findByLabelText(/^Step limit/)).toHaveProperty('value', '40');
    expect(screen.getByLabelText(/^Approvals/)).toHaveProperty('value', 'delay');
    write('Task', 'Fix');
    write(/^Step limit/, '');
    write(/^Time limit/, '1.5');
    write(/^Allowed hosts/, 'a.example, b.example:80');
    write(/^Tags/, 'x, y');
    fireEvent.click(await box(/^Run as root/));
    await click(start());
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.create')).toEqual([
        {
          task: 'Fix',
          model: 'openai:small',
          image: null,
          sandbox: 'root',
          workspace: null,
          budgets: { steps: null, seconds: 90 },
          egress: { hosts: ['a.example', 'b.example:80'] },
          trust: false,
          tags: ['x', 'y'],
        },
      ]),
    );
  });

  it.each(sampled(1, ['0', '-3', '1.5']))('refuse %s as a step limit', async (steps) => {
    const { rest } = await show();
    await box('openai:small');
    write('Task', 'Fix');
    await screen.findByLabelText(/^Step limit/);
    write(/^Step limit/, steps);
    await click(start());
    expect(screen.getByLabelText(/^Step limit/)).toHaveProperty('validity.valid', false);
    expect(rest.sentTo('sessions.create')).toEqual([]);
  });

  itLong('offer the enabled MCP servers, each of which can be deselected', async () => {
    const server = (name: string, enabled: boolean) => ({
      name,
      transport: { type: 'http' as const, url: 'https://mcp.example', headers: [] },
      enabled,
      tools: null,
      state: 'connected' as const,
      error: null,
      offered: [],
    });
    const list = () => [server('github', true), server('docs', true), server('old', false)];
    const { rest } = await show({ replies: { ...replies, mcp: { list } } });
    await box('openai:small');
    const servers = within(await screen.findByRole('group', { name: 'MCP servers' }));
    expect(servers.getAllByRole('checkbox')).toHaveLength(2);
    fireEvent.click(servers.getByRole('checkbox', { name: /github/ }));
    write('Task', 'Fix');
    await click(start());
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.create')).toMatchObject([{ mcp: ['docs'] }]),
    );
  });
});
