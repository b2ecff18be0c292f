import { act, fireEvent, screen, within } from '@testing-library/react';
import type { Machine, PlaceCapacity } from '@belay/protocol';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { renderWeb } from '@/testing/render-web';
import { MachineSettings } from './machine-settings';

const machine: Machine = {
  id: 'm1',
  name: 'box',
  host: 'box.example',
  os: 'Debian 12',
  arch: 'x64',
  kind: 'container',
  joined: '2026-01-01T00:00:00Z',
  connected: true,
  labels: { gpu: 'a100' },
  draining: false,
  capacity: { sandboxes: 4, memoryMb: 8_192, cpus: 8, images: ['node:*', 'python:3'] },
  running: 1,
  sessions: ['s1'],
  moves: [],
};

/** Shows what the server lists, which a change of the machine changes. */
const ofServer = { sandboxes: 20, memoryMb: 16_384, cpus: 2, images: ['*'] };
const show = async (
  first: Partial<Machine>,
  afterwards: Partial<Machine> = {},
  capacity: PlaceCapacity = ofServer,
) => {
  let listed = { ...machine, ...first };
  const page = await renderWeb(
    <>
      <MachineSettings />
      <QuestionDialog />
    </>,
    {
      replies: {
        machines: {
          list: () => [listed],
          own: () => ({ running: 3, capacity, agents: ['codex'], sessions: [] }),
          change: ({ body: { draining = false } }) =>
            (listed = { ...listed, ...afterwards, draining }),
        },
        sessions: { list: () => [] },
      },
    },
  );
  const box = await screen.findByRole('region', { name: 'box' });
  return { page, box: within(box) };
};
const click = async (name: string, within_: { findByRole: typeof screen.findByRole } = screen) => {
  const found = await within_.findByRole('button', { name });
  await act(async () => fireEvent.click(found));
};

describe('the settings for machines', () => {
  it('show how full each place is, this server first', async () => {
    const { box } = await show({});
    box.getByText('1 of 4 sandboxes · 8 GiB of memory · 8 CPUs · images: node:*, python:3');
    box.getByText(/gpu=a100/);
    expect(box.getByRole('meter', { name: 'Sandboxes' }).getAttribute('aria-valuenow')).toBe('1');
    expect(box.getByRole('link').getAttribute('href')).toBe('/sessions/s1');
    const regions = screen
      .getAllByRole('region')
      .map((region) => region.getAttribute('aria-label'));
    expect(regions).toEqual(['This server', 'box']);
    screen.getByText('3 of 20 sandboxes · 16 GiB of memory · 2 CPUs · agents: codex');
  });

  it('show no memory and processors of a cluster', async () => {
    await show({}, {}, { ...ofServer, memoryMb: null, cpus: null });
    screen.getByText('3 of 20 sandboxes · agents: codex');
  });

  it('drain a machine after a question, say what became of its sessions, and use it again', async () => {
    const moves = [
      { session: 's1', state: 'kept' as const, detail: 'The server has no copy of its last step.' },
    ];
    const { box } = await show({}, { moves });
    await click('Drain box');
    const dialog = await screen.findByRole('dialog');
    await click('Drain', within(dialog));
    await box.findByText(', takes no sessions');
    box.getByText('stays here: The server has no copy of its last step.');
    await click('Use box again');
    await box.findByRole('button', { name: 'Drain box' });
  });
});
