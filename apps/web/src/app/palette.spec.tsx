import { act, fireEvent, screen } from '@testing-library/react';
import { openPalette, useCommandList, useCommands, type PaletteCommand } from '@/lib/commands';
import { renderWeb } from '@/testing/render-web';
import { summaryWith } from '@/testing/session-log';
import { Palette } from './palette';

interface Shown {
  commands?: readonly PaletteCommand[];
  titles?: readonly string[];
}

const noCommands: readonly PaletteCommand[] = [];

const show = async (
  palette: 'all' | 'files',
  { commands = noCommands, titles = ['Summarize'] }: Shown = {},
) => {
  const open = jest.fn();
  const paths = ['src/session.ts', 'src/deep/sum.ts', 'README.md'];
  useCommandList.setState({ files: { paths, open }, palette: null });
  const sessions = titles.map((title, index) => summaryWith({ id: `s${index}`, title }));
  function Page() {
    useCommands(commands);
    return (
      <>
        <button>Row</button>
        <Palette />
      </>
    );
  }
  const { pathname } = await renderWeb(<Page />, {
    replies: { sessions: { list: () => sessions } },
  });
  screen.getByRole('button', { name: 'Row' }).focus();
  act(() => {
    openPalette(palette);
  });
  const field = await screen.findByRole('combobox');
  const type = (value: string) => fireEvent.change(field, { target: { value } });
  return { open, field, type, pathname };
};
const options = () => screen.getAllByRole('option').map(({ textContent }) => textContent);

describe('the palette', () => {
  it('opens a file by letters of its path, preferring file names', async () => {
    const { open, field, type } = await show('files');
    expect(options()).toHaveLength(3);
    type('sum');
    expect(options()).toEqual(['src/deep/sum.ts']);
    fireEvent.keyDown(field, { key: 'Enter' });
    expect(open).toHaveBeenCalledWith('src/deep/sum.ts');
    expect(screen.queryByRole('combobox')).toBeNull();
    expect(screen.queryByText('Sessions')).toBeNull();
  });

  it('finds nothing for signs alone, which no title begins with', async () => {
    const { type } = await show('all');
    await screen.findByText('Summarize');
    type('>');
    expect(screen.queryAllByRole('option')).toEqual([]);
  });

  it('finds files besides commands and sessions', async () => {
    const { type } = await show('all');
    type('sum');
    await screen.findByText('Summarize');
    expect(options().join(' ')).toContain('src/deep/sum.ts');
  });

  it('ranks words of titles over everything, and commands by no loose letters', async () => {
    const allow = jest.fn();
    const commands = [
      { id: 'allow', title: 'Allow the session’s request once', group: 'Fleet', run: allow },
      { id: 'go', title: 'Go to the thousand things', group: 'Go', run: jest.fn() },
    ];
    const titles = ['Change two thousand files', 'Thousands of steps', 'Fix the sum'];
    const { field, type, pathname } = await show('all', { commands, titles });
    await screen.findByText('Fix the sum');
    type('thous');
    expect(options()).toEqual([
      expect.stringContaining('Thousands of steps'),
      expect.stringContaining('Go to the thousand things'),
      expect.stringContaining('Change two thousand files'),
    ]);
    fireEvent.keyDown(field, { key: 'Enter' });
    expect(allow).not.toHaveBeenCalled();
    await act(async () => undefined);
    expect(pathname()).toBe('/sessions/s1');
  });

  it('runs commands on what was focused before, and offers none that cannot run on it', async () => {
    const focused: (string | null | undefined)[] = [];
    const run = () => void focused.push(document.activeElement?.textContent);
    const isRow = () => document.activeElement?.textContent === 'Row';
    const commands = [
      { id: 'on-row', title: 'Archive it', group: 'Fleet', offered: isRow, run },
      { id: 'off-row', title: 'Archive nothing', group: 'Fleet', offered: () => !isRow(), run },
    ];
    const { field, type } = await show('all', { commands });
    type('archive');
    expect(options()).toEqual([expect.stringContaining('Archive it')]);
    fireEvent.keyDown(field, { key: 'Enter' });
    expect(focused).toEqual(['Row']);
  });
});
