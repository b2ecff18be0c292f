import { act, fireEvent, screen } from '@testing-library/react';
import { openPalette, useCommandList } from '@/lib/commands';
import { renderWeb } from '@/testing/render-web';
import { summaryWith } from '@/testing/session-log';
import { Palette } from './palette';

const show = async (palette: 'all' | 'files') => {
  const open = jest.fn();
  const paths = ['src/session.ts', 'src/deep/sum.ts', 'README.md'];
  useCommandList.setState({ files: { paths, open } });
  await renderWeb(<Palette />, {
    replies: { sessions: { list: () => [summaryWith({ title: 'Summarize' })] } },
  });
  act(() => {
    openPalette(palette);
  });
  const field = await screen.findByRole('combobox');
  const type = (value: string) => fireEvent.change(field, { target: { value } });
  return { open, field, type };
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
  });

  it('finds files besides commands and sessions', async () => {
    const { type } = await show('all');
    type('sum');
    await screen.findByText('Summarize');
    expect(options().join(' ')).toContain('src/deep/sum.ts');
  });
});
