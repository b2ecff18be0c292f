import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { useToasts } from './toasts';
import { useSubmit, type Submitted } from './use-submit';

function Form({ save }: { save(): Promise<Submitted> }) {
  const { saving, warning, onSubmit } = useSubmit(save);
  return (
    <form onSubmit={onSubmit}>
      <button type="submit" disabled={saving}>
        Save
      </button>
      {warning?.warning}
    </form>
  );
}

describe('a submitted form', () => {
  it.each([
    ['stays disabled after success', async () => undefined, true],
    ['can be submitted again after the outcome `again`', async () => 'again' as const, false],
    ['can be submitted again after an error', () => Promise.reject(new Error('No.')), false],
  ])('%s', async (_, save, disabled) => {
    let calls = 0;
    render(
      <Form
        save={() => {
          calls += 1;
          return save();
        }}
      />,
    );
    const button = screen.getByRole('button');
    fireEvent.click(button);
    expect(button).toHaveProperty('disabled', true);
    fireEvent.click(button);
    await waitFor(() => expect(button).toHaveProperty('disabled', disabled));
    expect(calls).toBe(1);
  });

  it('shows a warning until it is submitted again', async () => {
    const outcomes: Submitted[] = [{ warning: 'The key does not work.' }, 'again'];
    render(<Form save={() => Promise.resolve(outcomes.shift())} />);
    fireEvent.click(screen.getByRole('button'));
    await screen.findByText('The key does not work.');
    fireEvent.click(screen.getByRole('button'));
    await waitFor(() => expect(screen.queryByText('The key does not work.')).toBeNull());
  });

  it('shows the error', async () => {
    useToasts.setState({ toasts: [] });
    render(<Form save={() => Promise.reject(new Error('The name is taken.'))} />);
    fireEvent.click(screen.getByRole('button'));
    await waitFor(() => expect(JSON.stringify(useToasts.getState())).toContain('is taken'));
  });
});
