import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { AgentChoice, ApprovalRequest } from '@belay/protocol';
import { ApprovalActions } from '@/components/approvals/approval-actions';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { ForkDialog } from '@/features/session-controls/fork-dialog';
import { listenForKeys, useCommandList } from '@/lib/commands';
import { noteQuestions } from '@/lib/new-questions';
import { onOpenSession } from '@/lib/open-session-page';
import { renderSession } from '@/testing/render-session';
import { summaryWith } from '@/testing/session-log';
import { useSessionCommands } from './session-commands';

const request = (id: string): ApprovalRequest => ({
  id,
  operation: 'terminal.run',
  input: { command: 'ls' },
  risk: 'execute',
  subject: 'ls',
});

function Page() {
  useSessionCommands();
  return (
    <>
      <input aria-label="Anything" />
      <QuestionDialog />
      <ForkDialog />
    </>
  );
}

const press = (key: string, target: Element = document.body) => fireEvent.keyDown(target, { key });

let stop: () => void;
beforeEach(() => {
  stop = listenForKeys();
});
afterEach(() => stop());

const show = async (options: Parameters<typeof renderSession>[1] = {}) => {
  const page = await renderSession(<Page />, {
    summary: { state: 'waiting', waitingFor: [request('first'), request('second')] },
    replies: { sessions: { answer: () => undefined } },
    ...options,
  });
  await waitFor(() => expect(page.rest.sentTo('sessions.list')).toHaveLength(1));
  const field = await screen.findByRole('textbox', { name: 'Anything' });
  return { ...page, field };
};

const codex: AgentChoice = {
  name: 'codex',
  title: 'Codex',
  about: 'Another one.',
  kind: 'installable',
  protocols: ['acp'],
  formats: ['responses'],
  licence: null,
  state: 'ready',
  version: '1.0.0',
  newest: '1.0.0',
  bytes: { done: 0, total: 0 },
  error: null,
  sessions: 0,
  command: [],
  variables: [],
};

describe('the commands of a session', () => {
  const run = async (id: string) =>
    act(async () => useCommandList.getState().commands.get(id)?.run());

  it('stop it only after confirmation', async () => {
    const stop = () => undefined;
    const { rest } = await show({ replies: { sessions: { stop } } });
    await run('session.stop');
    const dialog = within(await screen.findByRole('dialog', { name: 'Stop this session?' }));
    expect(rest.sentTo('sessions.stop')).toEqual([]);
    fireEvent.click(dialog.getByRole('button', { name: 'Stop' }));
    await waitFor(() => expect(rest.sentTo('sessions.stop')).toHaveLength(1));
  });

  it('fork it with a message, another model and another agent', async () => {
    const choices = [{ name: 'openai:small', title: 'Small', ready: true, remedy: null }];
    const { rest, pathname } = await show({
      summary: { lastSeq: 7, model: 'scripted:x' },
      replies: {
        models: { list: () => choices },
        agents: { list: () => [codex] },
        sessions: { fork: () => summaryWith({ id: 'forked' }) },
      },
    });
    onOpenSession(async () => undefined);
    await run('session.fork');
    const dialog = within(await screen.findByRole('dialog', { name: 'Fork from event 7' }));
    await dialog.findByRole('option', { name: 'Small (openai:small)' });
    fireEvent.change(dialog.getByLabelText(/^Message/), { target: { value: 'Try tabs ' } });
    fireEvent.change(dialog.getByLabelText(/^Model/), { target: { value: 'openai:small' } });
    await dialog.findByRole('option', { name: 'Codex' });
    fireEvent.change(dialog.getByLabelText(/^Agent/), { target: { value: 'codex' } });
    fireEvent.click(dialog.getByRole('button', { name: 'Fork' }));
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.fork')).toMatchObject([
        { seq: 7, model: 'openai:small', agent: { name: 'codex' }, message: { text: 'Try tabs' } },
      ]),
    );
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(pathname()).toBe('/');
  });
});

describe('the keys of approvals', () => {
  it.each([
    ['y', 'approved'],
    ['n', 'rejected'],
  ])('%s answers the oldest request', async (key, verdict) => {
    const { rest } = await show();
    press(key);
    await waitFor(() =>
      expect(rest.sentTo('sessions.answer')).toMatchObject([
        { params: { id: 's', call: 'first' }, body: { verdict } },
      ]),
    );
  });

  it('are plain letters while the user types', async () => {
    const { rest, field } = await show();
    press('y', field);
    press('n', field);
    press('y');
    await waitFor(() => expect(rest.sentTo('sessions.answer')).not.toEqual([]));
    expect(rest.bodiesOf('sessions.answer')).toEqual([{ verdict: 'approved' }]);
  });

  it('can be changed by the user', async () => {
    const { rest } = await show({ preferences: { keys: { 'approval.allow': 'a' } } });
    press('y');
    press('a');
    await waitFor(() => expect(rest.sentTo('sessions.answer')).not.toEqual([]));
    expect(rest.bodiesOf('sessions.answer')).toEqual([{ verdict: 'approved' }]);
  });

  it('do not answer a question that has just appeared, nor the one after it', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(10_000);
    noteQuestions('s', ['first', 'second']);
    const { rest } = await show();
    press('y');
    press('n');
    await screen.findAllByText('This is a new question. Read it, then press again.');
    now.mockReturnValue(10_701);
    press('y');
    noteQuestions('s', ['second']);
    now.mockReturnValue(10_900);
    press('y');
    await waitFor(() => expect(rest.sentTo('sessions.answer')).toHaveLength(1));
    noteQuestions('s', []);
    now.mockRestore();
  });

  it('do not answer a question that a busy page has only just shown', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(10_000);
    noteQuestions('s', ['first']);
    now.mockReturnValue(11_000);
    const { rest } = await renderSession(
      <>
        <Page />
        <ApprovalActions session="s" request={request('first')} />
      </>,
      {
        summary: { state: 'waiting', waitingFor: [request('first')] },
        replies: { sessions: { answer: () => undefined } },
      },
    );
    await screen.findByRole('button', { name: 'Allow once' });
    press('y');
    await screen.findByText('This is a new question. Read it, then press again.');
    now.mockReturnValue(11_701);
    press('y');
    await waitFor(() =>
      expect(rest.bodiesOf('sessions.answer')).toEqual([{ verdict: 'approved' }]),
    );
    noteQuestions('s', []);
    now.mockRestore();
  });

  it('report when nothing is waiting', async () => {
    const { rest } = await show({ summary: { state: 'running' } });
    press('y');
    await screen.findByText('Nothing is waiting for you.');
    expect(rest.sentTo('sessions.answer')).toEqual([]);
  });
});
