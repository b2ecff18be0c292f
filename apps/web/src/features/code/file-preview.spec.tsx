import { screen } from '@testing-library/react';
import { renderWeb } from '@/testing/render-web';
import { canPreview, FilePreview } from './file-preview';

const show = (path: string, text: string) => renderWeb(<FilePreview path={path} text={text} />);

describe('the preview of a file', () => {
  it('renders Markdown', async () => {
    await show('README.md', '# Hello\n\n<script>alert(1)</script>');
    await screen.findByRole('heading', { name: 'Hello' });
    expect(document.querySelector('script')).toBeNull();
  });

  it('shows comma-separated values as a table', async () => {
    await show('a.csv', 'name,size\nx,1\n');
    expect((await screen.findAllByRole('columnheader')).map((each) => each.textContent)).toEqual([
      'name',
      'size',
    ]);
    expect(screen.getAllByRole('cell').map((each) => each.textContent)).toEqual(['x', '1']);
  });

  it('shows a drawing as a picture, in which no scripts run', async () => {
    await show('a.svg', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    expect((await screen.findByAltText('a.svg')).tagName).toBe('IMG');
    expect(document.querySelector('svg')).toBeNull();
  });

  it('is only offered for these types', () =>
    expect(['a.md', 'A.SVG', 'a.tsv', 'a.ts', 'md'].map(canPreview)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]));
});
