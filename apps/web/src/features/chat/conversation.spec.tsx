import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { newEvent, type NewEvent } from '@belay/protocol';
import { ChatPanel } from './chat-panel';
import { renderSession } from '@/testing/render-session';
import type { RestReplies } from '@/testing/rest-stub';
import { call, logOf } from '@/testing/session-log';

type Sessions = NonNullable<RestReplies['sessions']>;
type Options = Parameters<typeof renderSession>[1];
const show = (events: NewEvent[], options: Options = {}) =>
  renderSession(<ChatPanel />, { events: logOf(...events), ...options });

const say = (text: string, reasoning?: string) =>
  newEvent('agent', 'say', { args: { text, reasoning, calls: [] }, message: 'A reply' });
const message = (args: { text: string; delivery?: 'queue' | 'steer'; pinned?: boolean }) =>
  newEvent('user', 'message', { args, message: 'A message' });

describe('the conversation', () => {
  it('shows the task, messages with their delivery, and what happened to the session', async () => {
    await show([
      newEvent('user', 'start', {
        args: { task: 'Fix the tests', model: 'scripted:x', sandbox: 'hardened' },
        message: 'Started',
      }),
      message({ text: 'Use the new API' }),
      message({ text: 'Stop that', delivery: 'steer' }),
      message({ text: 'Never push', pinned: true }),
      newEvent('server', 'deliver', { args: { messages: [2, 4] }, message: 'Taken' }),
      newEvent('server', 'state', {
        args: { state: 'limited', reason: 'The step limit is reached.' },
        message: 'Limited: the step limit is reached.',
      }),
    ]);
    const log = await screen.findByRole('log', { name: 'Conversation' });
    const shown = [...log.querySelectorAll('[data-index]')].map(({ textContent }) =>
      textContent.replace(/\d+:\d+:\d+( [AP]M)?/, '|'),
    );
    expect(shown).toEqual([
      'You|Fix the tests',
      'You (sent immediately)|Stop that',
      'You|Use the new API',
      'You (pinned)|Never push',
      'Limited: the step limit is reached.|',
    ]);
  });

  it('shows a push with what was found by running tests again, and not twice', async () => {
    const claim = { claim: 'check', verdict: 'confirmed', why: 'It passes.', command: 'npm test' };
    const push = { url: 'https://git.example.com/a/b', branch: 'x', base: 'main', commit: 'c1' };
    const reruns = { image: { name: 'i', id: 'x' }, claims: [{ ...claim, runs: [] }] };
    const args = { ...push, pullRequest: null, reruns };
    await show([
      newEvent('user', 'publish', {
        args: args as never,
        message: 'Pushed c1.\nCheck confirmed: It passes.',
      }),
    ]);
    const verdicts = await screen.findByRole('list', { name: 'Verdicts' });
    expect(verdicts.textContent).toBe('Check confirmedIt passes.npm test');
    expect(screen.getAllByText(/It passes/)).toHaveLength(1);
    screen.getByText('Pushed c1.');
  });

  it('shows a message as queued until a reply has read it', async () => {
    const working = newEvent('agent', 'say', {
      args: { text: 'Looking.', calls: [{ id: 'c', operation: 'files.list', input: {} }] },
      message: 'A reply',
    });
    const { live } = await show([working, message({ text: 'And the docs' })]);
    const note = 'You (queued until the end of this turn)';
    await screen.findByText(note);
    const events = logOf(working, message({ text: 'And the docs' }), working, say('Done.'));
    act(() => {
      live.events(events.slice(2));
    });
    await screen.findByText('Done.');
    screen.getByText(note);
    const next = logOf(
      working,
      message({ text: 'And the docs' }),
      working,
      say('Done.'),
      say('Now the docs.'),
    );
    act(() => {
      live.events(next.slice(4));
    });
    await screen.findByText('Now the docs.');
    expect(screen.queryByText(note)).toBeNull();
  });

  it('lets the user edit or withdraw queued messages, and marks them as such', async () => {
    const written = [
      newEvent('agent', 'say', {
        args: { text: 'Looking.', calls: [{ id: 'c', operation: 'files.list', input: {} }] },
        message: 'A reply',
      }),
      message({ text: 'And the docs' }),
      message({ text: 'And the tests' }),
    ];
    const sent: unknown[] = [];
    const sessions: Sessions = {
      editMessage: ({ params, body }) => void sent.push([params, body]),
      withdrawMessage: ({ params }) => void sent.push(params),
    };
    const { live } = await show(written, { replies: { sessions } });
    await screen.findByText('And the tests');
    const [edit] = screen.getAllByRole('button', { name: 'Edit' });
    fireEvent.click(edit!);
    const field = screen.getByRole('textbox', { name: 'Text of the queued message' });
    fireEvent.change(field, { target: { value: 'And the page' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(sent).toEqual([[{ id: 's', message: '2' }, { text: 'And the page' }]]),
    );
    await waitFor(() => expect(screen.queryByRole('textbox', { name: /queued/ })).toBeNull());
    const [, withdraw] = screen.getAllByRole('button', { name: 'Withdraw' });
    fireEvent.click(withdraw!);
    await waitFor(() => expect(sent[1]).toEqual({ id: 's', message: '3' }));

    const later = [
      newEvent('user', 'edit', { args: { message: 2, text: 'And the page' }, message: 'Edited' }),
      newEvent('user', 'withdraw', { args: { message: 3 }, message: 'Withdrew' }),
      newEvent('server', 'deliver', { args: { messages: [2] }, message: 'Taken' }),
    ];
    act(() => {
      live.events(logOf(...written, ...later).slice(3, 5));
    });
    await screen.findByText('You (queued until the end of this turn, edited)');
    screen.getByText('You (withdrawn; the agent does not read it)');
    expect(screen.queryByText('And the docs')).toBeNull();
    // A message that is delivered during an edit keeps the user’s text.
    fireEvent.click(screen.getByRole('button', { name: 'Edit' }));
    act(() => {
      live.events(logOf(...written, ...later).slice(5));
    });
    await screen.findByText('You (edited)');
    screen.getByRole('textbox', { name: 'Text of the queued message' });
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(screen.queryByRole('button', { name: /Edit|Withdraw/ })).toBeNull();
  });

  it('folds reasoning unless the user wants to see it', async () => {
    await show([say('Done.', 'First the tests')]);
    const folded = (await screen.findByText('Reasoning')).closest('details');
    expect(folded?.open).toBe(false);
  });

  it('unfolds reasoning and thoughts if the user prefers that', async () => {
    await show([say('Done.', 'First the tests'), call('think', { thought: 'Then the docs' })], {
      preferences: { reasoning: true },
    });
    for (const label of ['Reasoning', 'Thought'])
      expect((await screen.findByText(label)).closest('details')?.open).toBe(true);
  });

  it('shows a reply while it is written, and then only the complete reply', async () => {
    const { live } = await show([message({ text: 'Hello' })]);
    await screen.findByText('Hello');
    act(() => {
      live.delta?.('text', 'Good **mor');
    });
    await screen.findByText('Good **mor');
    const [reply] = logOf(say('Good **morning**'));
    act(() => {
      live.events(reply ? [{ ...reply, seq: 2 }] : []);
    });
    expect((await screen.findByText('morning')).tagName).toBe('STRONG');
    expect(screen.queryByText('Good **mor')).toBeNull();
  });

  it('shows a reply once, even if events arrive just before and after it', async () => {
    const { live } = await show([message({ text: 'Hello' })]);
    const [before, reply] = logOf(message({ text: 'Go on' }), say('Good **morning**'));
    act(() => {
      live.events(before ? [{ ...before, seq: 2 }] : []);
      live.delta?.('text', 'Good **mor');
      live.events(reply ? [{ ...reply, seq: 3 }] : []);
    });
    await screen.findByText('morning');
    expect(screen.queryByText(/mor$/)).toBeNull();
  });

  it('does not render HTML, fetch pictures or link to scripts that the model wrote', async () => {
    await show([
      say(
        'Hi <img src="https://evil.example/1" onerror="alert(1)"> <b>bold</b>\n\n<script>alert(2)</script>\n\n' +
          '![secret](https://evil.example/2) [here](javascript:alert(3)) [there](https://ok.example)',
      ),
    ]);
    await screen.findByText(/\[picture: secret at https:\/\/evil\.example\/2\]/);
    expect(document.querySelectorAll('img, script, b')).toHaveLength(0);
    const links = screen.getAllByRole('link').map((link) => link.getAttribute('href'));
    expect(links).toEqual(['https://ok.example']);
    expect(screen.getByText('here').closest('a')).toBeNull();
  });
});

it('shows the progress of copying the workspace while the session starts', async () => {
  const { live } = await show([], { summary: { state: 'starting', reason: null } });
  await screen.findByText('Starting the sandbox…');
  act(() => {
    live.copied?.(50 * 2 ** 20, 200 * 2 ** 20);
  });
  await screen.findByText('Copying the workspace: 50 MiB of 200 MiB');
  expect(screen.getByRole('meter', { name: 'Copied' }).getAttribute('aria-valuenow')).toBe(
    String(50 * 2 ** 20),
  );
  act(() => {
    live.copied?.(300 * 2 ** 20, null);
  });
  await screen.findByText('Copying the workspace: 300 MiB');
});

describe('the message box', () => {
  const replies = { sessions: { message: () => undefined, pause: () => undefined } };
  const box = () => screen.findByRole('textbox', { name: 'Message to the agent' });
  const write = async (text: string) => fireEvent.change(await box(), { target: { value: text } });
  const enter = async (more = {}) => {
    const field = await box();
    await act(async () => fireEvent.keyDown(field, { key: 'Enter', ...more }));
  };

  it('sends a queued message with Enter, and is then empty', async () => {
    const { rest } = await show([say('Hello')], { replies });
    await write('Look at README.md');
    await enter({ shiftKey: true });
    expect(rest.bodiesOf('sessions.message')).toEqual([]);
    await enter();
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.message')).toEqual([
        { text: 'Look at README.md', delivery: 'queue', images: [] },
      ]),
    );
    expect((await box()).textContent).toBe('');
  });

  it('sends messages that are delivered immediately', async () => {
    const { rest } = await show([say('Hello')], { replies });
    fireEvent.click(await screen.findByRole('radio', { name: 'Now' }));
    await write('Stop');
    await act(async () => fireEvent.click(screen.getByRole('button', { name: 'Send' })));
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.message')).toMatchObject([
        { text: 'Stop', delivery: 'steer' },
      ]),
    );
  });

  it('keeps a message that could not be sent, and shows the error', async () => {
    await show([say('Hello')], { replies: {} });
    await write('Look');
    await enter();
    await screen.findByText('The test has no reply of sessions.message.');
    expect((await box()).textContent).toBe('Look');
  });

  it('runs a command instead of sending it, and does not send blank text', async () => {
    const { rest } = await show([say('Hello')], { replies });
    await screen.findByRole('radio', { name: 'Now' });
    await write('   ');
    await enter();
    await write('/pause ');
    await enter();
    await waitFor(() => expect(rest.sentTo('sessions.pause')).toHaveLength(1));
    expect(rest.bodiesOf('sessions.message')).toEqual([]);
  });

  it('is hidden from viewers', async () => {
    await show([say('Hello')], { role: 'viewer' });
    await screen.findByText('Hello');
    await waitFor(() => expect(screen.queryByRole('textbox')).toBeNull());
  });
});
