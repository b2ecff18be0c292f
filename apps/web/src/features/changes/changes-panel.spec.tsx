import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { jest } from '@jest/globals';
import { newEvent, type OperationOutput } from '@belay/protocol';
import { itLong } from '@belay/testing';
import { usePublishRequest } from '@/features/session-controls/publish-request';
import { renderSession } from '@/testing/render-session';
import { logOf } from '@/testing/session-log';
import { ChangesPanel } from './changes-panel';
import { useViewed } from './decisions';

const text = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`);
const changed = text.with(29, 'changed');
const head = (path: string) => [`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`];
const diff = [
  ...head('src/deep/a.ts'),
  '@@ -27,7 +27,7 @@',
  ...text.slice(26, 29).map((line) => ` ${line}`),
  '-line 30',
  '+changed',
  ...text.slice(30, 33).map((line) => ` ${line}`),
  ...head('src/b.ts'),
  '@@ -1 +1 @@',
  '-b',
  '+B',
  '',
].join('\n');
const file = (path: string) =>
  ({ path, status: 'modified', added: 1, removed: 1, binary: false }) as const;
const changes: OperationOutput<'workspace.diff'> = {
  diff,
  truncated: false,
  files: [file('src/deep/a.ts'), file('src/b.ts')],
};

async function show(content = changed.join('\n')) {
  useViewed.setState({ marks: {} });
  const files = changes.files.map(({ path, added, removed }) => ({ path, added, removed }));
  const shown = jest.fn(() => ({ content, encoding: 'utf8' }));
  const page = await renderSession(<ChangesPanel />, {
    events: logOf(
      newEvent('agent', 'commit', {
        args: { commit: 'c0ffee1', parent: 'c0ffee0', files },
        message: 'Recorded',
        id: 'call',
      }),
    ),
    replies: {
      sessions: {
        call: ({ params }) => (params['name'] === 'workspace.diff' ? changes : shown()),
      },
    },
  });
  await screen.findAllByRole('group', { name: 'Lines of src/deep/a.ts' });
  return { ...page, shown };
}

const tree = () => within(screen.getByRole('navigation', { name: 'Changed files' }));
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole('button', { name }));
const linesShown = () =>
  screen
    .getAllByRole('group', { name: 'Lines of src/deep/a.ts' })
    .flatMap((group) => [...group.textContent.matchAll(/line (\d+)/g)].map(([, n]) => Number(n)));

describe('the tree of changed files', () => {
  it('folds, filters and marks viewed files, also with the keyboard', async () => {
    await show();
    tree().getByText('0 of 2 viewed');
    fireEvent.click(tree().getByRole('button', { name: 'deep' }));
    expect(tree().queryByRole('button', { name: /^a\.ts/ })).toBeNull();
    fireEvent.change(tree().getByRole('searchbox'), { target: { value: 'A.TS' } });
    const file = tree().getByRole('button', { name: /^a\.ts/ });
    expect(tree().queryByRole('button', { name: /^b\.ts/ })).toBeNull();
    // The diff has the same files.
    await waitFor(() =>
      expect(screen.queryByRole('group', { name: 'Lines of src/b.ts' })).toBeNull(),
    );
    fireEvent.keyDown(file, { key: 'v' });
    tree().getByText('1 of 2 viewed');
    tree().getByRole('img', { name: 'viewed' });
    expect(screen.queryByRole('group', { name: 'Lines of src/deep/a.ts' })).toBeNull();
    fireEvent.click(file);
    expect(file.getAttribute('aria-current')).toBe('true');
    await screen.findByRole('group', { name: 'Lines of src/deep/a.ts' });
  });
});

describe('folding all files', () => {
  it('keeps the files folded that the user folded since', async () => {
    await show();
    press('Fold all files');
    expect(screen.queryAllByRole('group', { name: /^Lines of/ })).toEqual([]);
    press('Unfold all files');
    await screen.findByRole('group', { name: 'Lines of src/b.ts' });
    fireEvent.click(within(screen.getByRole('region', { name: 'Diff' })).getByText('src/b.ts'));
    expect(screen.queryByRole('group', { name: 'Lines of src/b.ts' })).toBeNull();
    screen.getAllByRole('group', { name: 'Lines of src/deep/a.ts' });
  });

  itLong('fetches the lines that the diff lacks only where they are seen', async () => {
    const tall = jest.replaceProperty(HTMLElement.prototype, 'clientHeight', 400);
    const files = Array.from({ length: 40 }, (_, index) => file(`f${index}`));
    const fetched = new Set<unknown>();
    await renderSession(<ChangesPanel />, {
      events: logOf(
        newEvent('agent', 'commit', {
          args: { commit: 'c0ffee1', parent: 'c0ffee0', files: [] },
          message: 'Recorded',
          id: 'call',
        }),
      ),
      replies: {
        sessions: {
          call: ({ body }) => {
            const { path } = body as { path?: string };
            if (path === undefined) return { diff: '', truncated: true, files };
            fetched.add(path);
            const text = [...head(path), '@@ -1 +1 @@', '-a', '+b', ''].join('\n');
            return { diff: text, truncated: false, files: [file(path)] };
          },
        },
      },
    });
    await screen.findByText('40 files');
    expect(fetched.size).toBe(0);
    press('Unfold all files');
    await screen.findByRole('group', { name: 'Lines of f0' });
    // The rows of a few files fit into the list.
    expect(fetched.size).toBeLessThan(files.length);
    tall.restore();
  });
});

describe('the lines around a change', () => {
  itLong('are shown twenty at a time, or all', async () => {
    const { shown } = await show();
    expect(Math.min(...linesShown())).toBe(27);
    screen.getByText('26 lines not shown');
    press('Show 20 more lines before line 27');
    await screen.findByText('6 lines not shown');
    expect(Math.min(...linesShown())).toBe(7);
    press('Show 6 lines');
    await waitFor(() => expect(Math.min(...linesShown())).toBe(1));
    press('Show 20 more lines after line 33');
    await screen.findByText('7 lines not shown');
    expect(Math.max(...linesShown())).toBe(53);
    press('Show the whole file src/deep/a.ts');
    await waitFor(() => expect(Math.max(...linesShown())).toBe(60));
    expect(shown).toHaveBeenCalledTimes(1);
  });

  itLong('are not guessed for a file that has changed since', async () => {
    await show('something else');
    press('Show 20 more lines before line 27');
    await screen.findAllByText('The file has changed since then. Open it to see all of it.');
    expect(Math.min(...linesShown())).toBe(27);
  });
});

it('asks how to publish the changes', async () => {
  usePublishRequest.setState({ session: null });
  await show();
  press('Publish…');
  expect(usePublishRequest.getState().session?.id).toBe('s');
});
