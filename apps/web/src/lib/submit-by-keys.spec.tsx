import { fireEvent, render, screen } from '@testing-library/react';
import { submitByKeys } from './submit-by-keys';

describe('Ctrl+Enter', () => {
  it('submits a form from any field, unless the field handles the key itself', () => {
    const stop = submitByKeys();
    const submitted = jest.fn();
    render(
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submitted();
        }}
      >
        <textarea aria-label="Text" />
        <input type="checkbox" aria-label="Choice" />
        <input aria-label="Own" onKeyDown={(event) => event.preventDefault()} />
      </form>,
    );
    const press = (name: string, keys = {}) =>
      fireEvent.keyDown(screen.getByLabelText(name), { key: 'Enter', ...keys });
    press('Text', { ctrlKey: true });
    press('Choice', { metaKey: true });
    expect(submitted).toHaveBeenCalledTimes(2);
    press('Text');
    press('Own', { ctrlKey: true });
    stop();
    press('Text', { ctrlKey: true });
    expect(submitted).toHaveBeenCalledTimes(2);
  });
});
