import { fireEvent, screen } from '@testing-library/react';
import { AppError, newEvent } from '@belay/protocol';
import { itLong } from '@belay/testing';
import { ChangesPanel } from '@/features/changes/changes-panel';
import { renderSession } from '@/testing/render-session';
import { logOf } from '@/testing/session-log';
import { useState } from 'react';
import { PanelBadge } from './panel-badge';

const recorded = (path: string, commit: string) =>
  newEvent('agent', 'commit', {
    args: { commit, parent: 'c0ffee0', files: [{ path, added: 1, removed: 0 }] },
    message: 'Recorded',
    id: commit,
  });

function Page() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <p data-testid="badge">
        <PanelBadge panel="changes" />
      </p>
      <button onClick={() => setOpen(true)}>Open</button>
      {open && <ChangesPanel />}
    </>
  );
}

it('counts the files that the panel shows, not those that were changed and reverted', async () => {
  const file = { path: 'a.ts', status: 'added', added: 1, removed: 0, binary: false } as const;
  const diff = [
    'diff --git a/a.ts b/a.ts',
    '--- /dev/null',
    '+++ b/a.ts',
    '@@ -0,0 +1 @@',
    '+a',
    '',
  ];
  await renderSession(<Page />, {
    events: logOf(recorded('a.ts', 'c0ffee1'), recorded('gone.ts', 'c0ffee2')),
    replies: {
      sessions: { call: () => ({ diff: diff.join('\n'), truncated: false, files: [file] }) },
    },
  });
  expect((await screen.findByTestId('badge')).textContent).toBe('•');
  fireEvent.click(screen.getByRole('button', { name: 'Open' }));
  await screen.findByText('1 file');
  expect(screen.getByTestId('badge').textContent).toBe('1');
});

itLong('counts the files that a long list leaves out', async () => {
  const file = { path: 'a.ts', status: 'added', added: 1, removed: 0, binary: false } as const;
  const total = { files: 6_001, added: 6_001, removed: 0 };
  await renderSession(<Page />, {
    events: logOf(recorded('a.ts', 'c0ffee1')),
    replies: { sessions: { call: () => ({ diff: '', truncated: true, files: [file], total }) } },
  });
  fireEvent.click(screen.getByRole('button', { name: 'Open' }));
  await screen.findByText('6,001 files');
  screen.getByText('6,000 more files not listed. Save the patch to see all.');
  expect(screen.getByTestId('badge').textContent).toBe('6,001');
});

itLong('counts the files of the patch of an ended session', async () => {
  await renderSession(<Page />, {
    events: logOf(recorded('a.ts', 'c0ffee1')),
    summary: { state: 'finished' },
    replies: {
      sessions: {
        call: () => {
          throw new AppError('conflict', 'The session has no sandbox now.');
        },
        patch: () =>
          new TextEncoder().encode(
            ['a', 'b'].map((path) => `diff --git a/${path} b/${path}\n`).join(''),
          ),
      },
    },
  });
  fireEvent.click(screen.getByRole('button', { name: 'Open' }));
  await screen.findByText('2 files');
  expect(screen.getByTestId('badge').textContent).toBe('2');
});
