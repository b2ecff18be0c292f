import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { newEvent, type NewEvent } from '@belay/protocol';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { ChangesPanel } from '@/features/changes/changes-panel';
import { renderSession } from '@/testing/render-session';
import { call, logOf, succeeded } from '@/testing/session-log';
import { ChatPanel } from './chat-panel';

const start = newEvent('user', 'start', {
  args: { task: 'Fix the tests', model: 'scripted:x', sandbox: 'hardened' },
  message: 'Started',
});
const say = (text: string) =>
  newEvent('agent', 'say', { args: { text, calls: [] }, message: 'A reply' });
const message = (text: string) => newEvent('user', 'message', { args: { text }, message: text });
const taken = newEvent('server', 'deliver', { args: { messages: [3] }, message: 'Taken' });
const rewind = (seq: number, last: number) =>
  newEvent('user', 'rewind', {
    args: { seq, what: 'both', last },
    message: `Rewound files and conversation to event ${seq}.`,
  });
const commit = 'c0ffee1'.padEnd(40, '0');
const committed = (id: string, of = commit) =>
  newEvent('agent', 'commit', {
    args: { commit: of, parent: 'c0ffee0', files: [{ path: 'a.ts', added: 7, removed: 3 }] },
    message: 'Recorded a.ts',
    id,
  });
const write = [
  call('files.write', { path: 'a.ts', content: 'x' }),
  succeeded('files.write', { path: 'a.ts', bytes: 1, created: true } as never),
  committed('call'),
];
const undoOf = (of: string, by: string) => {
  const id = 'user-undo';
  return [
    call('workspace.undo', { commit: of }, { id, source: 'user' }),
    committed(id, by),
    newEvent('user', 'result', {
      args: {
        operation: 'workspace.undo',
        ok: true,
        output: {
          files: [{ path: 'a.ts', status: 'modified' }],
          commit: by,
          undone: { commit: of, time: '2026-01-01T00:00:00Z', message: 'Write a.ts' },
        },
        seconds: 0,
      },
      message: 'Done',
      id,
    }),
  ];
};

const show = (events: NewEvent[], sessions = {}, panel = <ChatPanel />) =>
  renderSession(
    <>
      {panel}
      <QuestionDialog />
    </>,
    { events: logOf(...events), replies: { sessions } },
  );
const press = async (name: string | RegExp) =>
  fireEvent.click(await screen.findByRole('button', { name }));
const dialog = async (name: string) => within(await screen.findByRole('dialog', { name }));
const preview = { files: [{ path: 'a.ts', status: 'modified' }], messages: 2 };

describe('after a rewind', () => {
  const log = [
    start,
    say('One.'),
    message('Do more'),
    taken,
    say('Two.'),
    rewind(2, 5),
    say('Three.'),
  ];

  it('what was undone is folded, and looks undone when it is unfolded', async () => {
    await show(log);
    await screen.findByText('Three.');
    expect(screen.queryByText('Two.')).toBeNull();
    await press('2 entries undone by a rewind');
    expect(screen.getByText('Two.').closest('.line-through')).not.toBeNull();
    expect(screen.getByText('Three.').closest('.line-through')).toBeNull();
  });

  it('the rewind can be undone, and then everything counts again', async () => {
    const { live, rest } = await show(log, { rewind: () => preview });
    await press('Undo…');
    const asked = await dialog('Undo the rewind?');
    fireEvent.click(asked.getByRole('button', { name: 'Rewind' }));
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.rewind')).toEqual([
        { seq: 5, what: 'both', preview: true },
        { seq: 5, what: 'both' },
      ]),
    );
    act(() => {
      live.events(logOf(...log, rewind(5, 7)).slice(7));
    });
    await screen.findByText('Two.');
    expect(screen.queryByText('Three.')).toBeNull();
  });
});

it('a message is the place to rewind to, and its text returns to the message box', async () => {
  const log = [start, say('One.'), message('Do more'), taken, say('Two.')];
  const { rest } = await show(log, { rewind: () => preview });
  await press('Rewind to before this message…');
  const asked = await dialog('Rewind to before this message?');
  asked.getByText(/^This restores 1 file and ignores 2 messages\./);
  fireEvent.click(asked.getByRole('button', { name: 'Rewind' }));
  await waitFor(() =>
    expect(rest.bodiesOf('sessions.rewind').at(-1)).toEqual({ seq: 2, what: 'both' }),
  );
  await waitFor(() =>
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: /Message/ }).value).toBe(
      'Do more',
    ),
  );
});

describe('a step', () => {
  const undoing = {
    call: ({ params }: { params: Record<string, string> }) =>
      params['name'] === 'workspace.undo'
        ? {
            files: [{ path: 'a.ts', status: 'deleted' }],
            commit: null,
            undone: { commit, time: '2026-01-01T00:00:00Z', message: 'Write a.ts' },
          }
        : { diff: '', truncated: false, files: [] },
  };
  const confirm = async () => {
    const asked = await dialog('Undo this step?');
    asked.getByText('deleted a.ts', { normalizer: (text) => text.replace(/\s+/g, ' ') });
    fireEvent.click(asked.getByRole('button', { name: 'Undo' }));
  };

  it('is undone from its card, after a look at what changes', async () => {
    const { rest } = await show([start, ...write], undoing);
    await press(/^Write a\.ts/);
    await press('Undo…');
    await confirm();
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.call')).toEqual([{ commit, preview: true }, { commit }]),
    );
  });

  it('is undone from its view in the changes', async () => {
    const { rest } = await show([start, ...write], undoing, <ChangesPanel />);
    await screen.findByRole('option', { name: 'Write a.ts' });
    fireEvent.change(await screen.findByRole('combobox', { name: 'Which changes' }), {
      target: { value: 'call' },
    });
    await press('Undo this step…');
    await confirm();
    await waitFor(() => expect(rest.bodiesOf('sessions.call')).toContainEqual({ commit }));
  });

  it('that was undone is struck, without its numbers, and is whole again when that is undone', async () => {
    const [first, second] = ['1'.repeat(40), '2'.repeat(40)];
    const { live } = await show([start, ...write, ...undoOf(commit, first)]);
    const card = () => screen.getByRole('button', { name: /^Write a\.ts/ });
    await screen.findByRole('button', { name: /^Write a\.ts undone/ });
    expect(card().textContent).not.toContain('+7');
    expect(card().querySelector('.line-through')).not.toBeNull();
    const again = undoOf(first, second).map((event) => ({ ...event, id: 'user-again' }));
    act(() => {
      live.events(logOf(start, ...write, ...undoOf(commit, first), ...again).slice(7));
    });
    await waitFor(() => expect(card().textContent).toContain('+7'));
  });
});

it('the moment of a write includes its commit', async () => {
  await show([start, ...write, say('Next.')]);
  await press(/^Write a\.ts/);
  await press('View this moment');
  await screen.findByText('Showing event 4 of 5');
});
