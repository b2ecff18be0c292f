import { render } from '@testing-library/react';
import { Markdown } from './markdown';
import { VisibleText } from './visible-text';

describe('attacks: text that looks like another', () => {
  it('is shown in its own order, with what is invisible in it', () => {
    const { container } = render(<VisibleText text={'echo \u202e\u2066; rm\u200b x\r'} />);
    expect(container.textContent).toBe('echo <U+202E><U+2066>; rm<U+200B> x␍');
    const [isolated] = container.querySelectorAll('bdi');
    expect(isolated?.dir).toBe('ltr');
    // What stands for a character differs from the same letters.
    expect(container.querySelectorAll('[title="An invisible character"]')).toHaveLength(4);
  });

  it('is left as it is when it is honest', () => {
    const { container } = render(<VisibleText text={'שלום <U+202E> 👩\u200d💻'} />);
    expect(container.textContent).toBe('שלום <U+202E> 👩\u200d💻');
    expect(container.querySelectorAll('[title]')).toHaveLength(0);
  });

  it('has an element of its own only where it could look different', () => {
    const elements = (text: string) =>
      render(<VisibleText text={text} />).container.querySelectorAll('*').length;
    expect(elements("const name = 'x'; // \t~\n")).toBe(0);
    expect(['א', '\r', '\u007f', '\u200b'].map((sign) => elements(`a${sign}`) > 0)).toEqual(
      Array(4).fill(true),
    );
  });

  it('is shown in replies as well', () => {
    const { container } = render(<Markdown text={'Run `a\u202eb`, or\u3164not'} />);
    expect(container.textContent).toBe('Run a<U+202E>b, or<U+3164>not');
    const line = render(<Markdown text={'all\u3164passed'} />);
    expect(line.container.textContent).toBe('all<U+3164>passed');
  });
});
