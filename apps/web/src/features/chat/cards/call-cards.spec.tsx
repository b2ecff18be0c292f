import { act, fireEvent, screen, within } from '@testing-library/react';
import { newEvent, type NewEvent, type OperationOutput } from '@belay/protocol';
import { ChatPanel } from '@/features/chat/chat-panel';
import { usePanelLinks } from '@/lib/panel-links';
import { lookAt, useSessionContext } from '@/features/session-log/session-context';
import { renderSession } from '@/testing/render-session';
import { call, failedWith, logOf, result, succeeded } from '@/testing/session-log';

function LookAt({ seq }: { seq: number }) {
  const context = useSessionContext();
  return (
    <button type="button" onClick={() => lookAt(context, seq)}>
      Look
    </button>
  );
}

const show = (...events: NewEvent[]) => renderSession(<ChatPanel />, { events: logOf(...events) });
const card = (name: RegExp) => screen.findByRole('button', { name });
const open = async (name: RegExp) => fireEvent.click(await card(name));

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);
const run = (part: Partial<OperationOutput<'terminal.run'>>): NewEvent =>
  succeeded('terminal.run', {
    terminal: 'main',
    status: 'exited',
    exitCode: 0,
    text: '',
    omittedBytes: 0,
    from: 40,
    to: 90,
    seconds: 1,
    directory: '/work',
    ...part,
  });
const npmTest = call('terminal.run', { command: 'npm test' });

describe('the card of a command', () => {
  it('shows the output of its terminal while it runs, without earlier output', async () => {
    const { live } = await show(
      call('terminal.run', { command: 'ls' }, { id: 'before' }),
      { ...run({ to: 6 }), id: 'before' },
      npmTest,
    );
    await card(/Run npm test running/);
    const bytes = new TextEncoder().encode('a.txt\n\u001b[32m12 passed\u001b[0m\n');
    act(() => {
      void live.terminal?.({ terminal: 'main', offset: 0, bytes });
    });
    expect((await screen.findByText(/12 passed/)).textContent).toBe('12 passed');
  });

  it('stops counting time when the session has ended', async () => {
    await renderSession(<ChatPanel />, {
      events: logOf(npmTest),
      summary: { state: 'stopped', updated: '2026-01-01T00:05:00Z' },
    });
    expect((await card(/npm test not finished/)).textContent).not.toContain('running');
  });

  it('counts time up to the displayed moment', async () => {
    const later = (action: 'pause' | 'resume', time: string) => ({
      ...newEvent('user', action, { args: {}, message: action }),
      time,
    });
    await renderSession(
      <>
        <ChatPanel />
        <LookAt seq={2} />
      </>,
      {
        events: logOf(
          npmTest,
          later('pause', '2026-01-01T00:00:42Z'),
          later('resume', '2026-01-01T01:00:00Z'),
        ),
      },
    );
    fireEvent.click(screen.getByRole('button', { name: 'Look' }));
    await card(/npm test running 42s/);
  });

  it('shows how it ended, and its output only once it is opened', async () => {
    await show(npmTest, run({ text: 'all good\n' }));
    await card(/Run npm test exit 0 1\.0 s/);
    expect(screen.queryByText('all good')).toBeNull();
    await open(/npm test/);
    expect(screen.getByLabelText('Input').textContent).toBe('npm test');
    expect(screen.getByLabelText('Output').textContent).toBe('all good');
    fireEvent.click(screen.getByRole('button', { name: 'View in terminal' }));
    expect(usePanelLinks.getState().terminal).toMatchObject({ name: 'main', offset: 40 });
  });

  it('shows the end of its output when it failed, and all of it once it is opened', async () => {
    await show(npmTest, run({ exitCode: 2, text: lines(40).join('\n'), omittedBytes: 2_048 }));
    await card(/npm test exit 2/);
    const glance = screen.getByText(/line 40/);
    expect(glance.textContent).toMatch(/^line 36\n[^]*\n\[2 KiB left out\]$/);
    await open(/npm test/);
    const output = screen.getByLabelText('Output').textContent;
    expect(output.split('\n').slice(0, -1)).toEqual(lines(40));
  });

  it('shows the message of an error of the operation itself', async () => {
    await show(npmTest, failedWith('terminal.run', 'The terminal `main` is held by the user.'));
    await card(/npm test failed/);
    screen.getByText('The terminal `main` is held by the user.');
  });

  it.each([
    [
      { exitCode: 137, killed: 'killed: the sandbox was out of memory' },
      'exit 137 killed: the sandbox was out of memory',
    ],
    [{ status: 'timeout' as const, exitCode: null }, 'timed out'],
    [{ status: 'interrupted' as const, exitCode: 130 }, 'exit 130 interrupted'],
  ])('shows what the exit code does not tell: %j', async (ended, shown) => {
    await show(npmTest, run({ ...ended, text: 'the last line' }));
    await card(new RegExp(`npm test ${shown}`));
    // The end of the output of a failed command is shown.
    screen.getByText(/the last line/);
  });

  it('shows that it continues in the background, without an exit code', async () => {
    await show(npmTest, run({ status: 'background', exitCode: null }));
    expect((await card(/npm test in background/)).textContent).not.toContain('exit');
  });

  it('shows a result that does not match its schema as JSON', async () => {
    const output = { exitCode: 'none', text: 5 };
    await show(npmTest, result({ operation: 'terminal.run', ok: true, output }));
    expect((await card(/npm test/)).textContent).not.toMatch(/exit|failed/);
    await open(/npm test/);
    expect(JSON.parse(screen.getByLabelText('Output').textContent)).toEqual(output);
  });

  it('shows an invalid input as JSON', async () => {
    const args = { command: '', wait: 'long' };
    await show(
      { source: 'agent', action: 'terminal.run', args, message: 'A call', id: 'call' },
      failedWith('terminal.run', 'command: Too small'),
    );
    await open(/^Run/);
    expect(JSON.parse(screen.getByLabelText('Input').textContent)).toEqual(args);
  });
});

describe('the card of an edit', () => {
  const edit = call('files.write', { path: 'src/a.ts', content: 'x' });
  const written = succeeded('files.write', {
    path: 'src/a.ts',
    size: 1,
    lines: 20,
    version: null,
    created: true,
  });
  const landed = newEvent('agent', 'code', {
    args: { path: 'src/a.ts', line: 7, change: 'REPLACE', content: lines(20), removed: 2 },
    message: 'Edited src/a.ts',
    id: 'call',
  });
  const commit = newEvent('agent', 'commit', {
    args: {
      commit: 'c0ffee0',
      parent: null,
      files: [
        { path: 'src/a.ts', added: 20, removed: 2 },
        { path: 'b.ts', added: 1, removed: 0 },
      ],
    },
    message: 'Commit',
    id: 'call',
  });

  it('shows what was added and removed, and the first lines with their numbers', async () => {
    await show(edit, landed, commit, written);
    await card(/Write src\/a\.ts \+21 −2/);
    const shown = within(screen.getByRole('group', { name: 'Lines of src/a.ts' }));
    shown.getByText('− 2 lines');
    expect(shown.getAllByText(/^line /).map(({ textContent }) => textContent)).toEqual(lines(8));
    shown.getByText('7');
    shown.getByText('14');
    shown.getByText('… 12 more lines');
  });

  it('counts the files that its list leaves out', async () => {
    const total = { files: 2_001, added: 4_003, removed: 2_000 };
    await show(edit, { ...commit, args: { ...commit.args, total } }, written);
    await card(/Write src\/a\.ts \+4,003 −2,000/);
  });

  it('shows all lines once it is opened, with links to the file and the commit', async () => {
    await show(edit, landed, commit, written);
    await open(/^Write/);
    const shown = within(screen.getByRole('group', { name: 'Lines of src/a.ts' }));
    expect(shown.getAllByText(/^line /)).toHaveLength(20);
    fireEvent.click(screen.getByRole('button', { name: 'View in code' }));
    expect(usePanelLinks.getState().file).toMatchObject({ path: 'src/a.ts', line: 7 });
    fireEvent.click(screen.getByRole('button', { name: 'View changes' }));
    expect(usePanelLinks.getState().commit).toMatchObject({ commit: 'c0ffee0', parent: null });
  });

  it('shows a note in place of lines that are too large', async () => {
    await show(
      edit,
      { ...landed, args: { ...landed.args, content: [], truncated: true } },
      written,
    );
    await screen.findByText('… too large to show here');
  });
});

describe('cards of other calls', () => {
  it('shows the text of a file that was read, with a link to it', async () => {
    await show(
      call('files.read', { path: 'README.md' }),
      succeeded('files.read', {
        path: 'README.md',
        content: '# Hello\n',
        from: 1,
        to: 1,
        lines: 1,
        size: 8,
        next: null,
        version: null,
      }),
    );
    await open(/Read README\.md/);
    expect(screen.getByLabelText('Output').textContent).toBe('# Hello');
    fireEvent.click(screen.getByRole('button', { name: 'View in code' }));
    expect(usePanelLinks.getState().file).toMatchObject({ path: 'README.md', line: 1 });
  });

  it('shows the address and the text of a page', async () => {
    const url = 'http://localhost:8080/list';
    const page = { url, title: 'List', text: 'Two items [e1]', truncated: false, notes: [] };
    await show(call('browser.open', { url }), succeeded('browser.open', page));
    await open(/Open a page http:\/\/localhost:8080\/list/);
    expect(screen.getByLabelText('Output').textContent).toBe('Two items [e1]');
    expect(screen.queryByRole('button', { name: 'View in code' })).toBeNull();
  });

  it('shows the tool of an MCP server that is no longer known', async () => {
    const tool = 'mcp.github.find_issue';
    await show(
      { source: 'agent', action: tool, args: { number: 7 }, message: 'A call', id: 'call' },
      result({ operation: tool, ok: true, output: { text: 'It is open.' } }),
    );
    await open(/find_issue \(github\) \{"number":7\}/);
    expect(screen.getByLabelText('Output').textContent).toBe('It is open.');
  });

  it('shows a picture without a click', async () => {
    const blob = 'b'.repeat(64);
    const shot = succeeded('browser.screenshot', {
      url: 'http://x',
      title: 'X',
      image: blob,
    } as never);
    await renderSession(<ChatPanel />, {
      events: logOf(call('browser.screenshot', {}), {
        ...shot,
        args: { ...shot.args, images: [blob] },
      }),
      replies: { sessions: { blob: () => new Uint8Array([1]) } },
    });
    await screen.findByAltText('Picture from browser.screenshot');
  });

  it('groups consecutive reads into one line', async () => {
    const read = (path: string) => call('files.read', { path }, { id: path });
    await show(
      npmTest,
      run({}),
      read('src/a.ts'),
      read('src/b.ts'),
      call('files.list', { path: '.' }, { id: 'list' }),
      read('c.md'),
    );
    await open(/^Read 3 files, list files a\.ts, b\.ts, c\.md/);
    for (const name of [/^Read src\/a\.ts/, /^Read src\/b\.ts/, /^List/, /^Read c\.md/])
      await card(name);
  });

  it('offers the full output of a shortened result', async () => {
    const tool = 'mcp.github.find_issue';
    const full = 'a'.repeat(64);
    await show(
      { source: 'agent', action: tool, args: {}, message: 'A call', id: 'call' },
      result({ operation: tool, ok: true, output: { text: 'Long', omittedCharacters: 9, full } }),
    );
    await open(/find_issue/);
    screen.getByRole('button', { name: 'Download full output' });
  });

  it('marks a call by the user', async () => {
    await show(call('terminal.run', { command: 'ls' }, { source: 'user' }), run({}));
    await card(/You · Run ls/);
  });

  it('leaves out calls that are shown as an event instead', async () => {
    await show(call('plan.update', { markdown: '- [ ] one' }), npmTest);
    await card(/npm test/);
    expect(screen.queryByRole('button', { name: /plan/i })).toBeNull();
  });
});

describe('the card of a finished task', () => {
  it.each([
    ['success', 'Done'],
    ['failure', 'Could not be done'],
  ] as const)('labels a %s', async (outcome, words) => {
    await show(call('finish', { outcome, summary: 'It was **hard**.' }));
    await screen.findByText(words);
    expect(screen.getByText('hard').tagName).toBe('STRONG');
  });
});
